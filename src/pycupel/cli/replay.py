"""`pycupel replay`: show what policies would have sent at each call of logged sessions."""

from __future__ import annotations

from typing import Any

from pycupel.cli import logs
from pycupel.cli.exits import FINE, InputError
from pycupel.cli.inputs import check_files, naming
from pycupel.cli.options import add_budget, add_counter, add_input, add_json, budget_of, parse_amount
from pycupel.cli.output import Screen, add_html, write_page
from pycupel.cli.parsers import Parser
from pycupel.render._layout import plural
from pycupel.replay import PolicyReplay, replay

EXAMPLE = "pycupel demo transcript | pycupel replay - -b 12000 -p newest-first -p chat"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_input(parser, "transcripts or logs of requests; - for stdin", several="LOG")
    add_budget(parser)
    logs.add_policies(parser)
    logs.add_rates(parser)
    add_counter(parser, "token counter")
    add_json(parser)
    add_html(parser)


def run(options: Any, screen: Screen) -> int:
    """Write a line for each policy, over all sessions."""
    check_files(options.files)
    # A share may be of the window of the model in a log, but a mistake need not wait for it.
    parse_amount(options.budget)
    results, budget, sessions = _replayed(options, screen)
    if options.html is not None:
        from pycupel.cli.logs import replay_page  # noqa: PLC0415 - most calls print

        write_page(options.html, replay_page(results, budget, sessions), screen)
    if options.json:
        screen.json({"budget": budget, "sessions": sessions, "policies": [logs.document(each) for each in results]})
    elif options.html is None:
        calls, conversations = plural(results[0].calls, "call"), plural(sessions, "conversation")
        screen.heading(f"{calls} in {conversations}, at {plural(budget, 'token')} each")
        logs.write_policies(results, screen)
    return FINE


def _replayed(options: Any, screen: Screen) -> tuple[list[PolicyReplay], int, int]:
    """Replay all files, one after the other. Return the sums, the budget, and the number of conversations."""
    policies, rates = logs.policies_of(options.policy or logs.USUAL), logs.rates_of(options)
    budgets: set[int] = set()
    results: list[PolicyReplay] = []
    sessions = 0
    for path in options.files:
        try:
            log = logs.read(path, options.max_line, screen)
        except logs.NoConversationError as error:
            # Among many transcripts, some are often empty.
            if len(options.files) == 1:
                raise
            screen.warn(str(error))
            continue
        budgets |= {budget_of(options, history.model) for history in log.histories}
        if len(budgets) > 1:
            raise InputError("the models in the logs have different windows: choose with --window N or --model NAME")
        [budget] = budgets
        sessions += len(log.histories)
        with naming(path), logs.progress_bar(screen) as progress:
            found = replay(log, budget, policies, counter=options.counter, rates=rates, progress=progress)
        results = [before + now for before, now in zip(results, found, strict=True)] if results else [*found]
    if not results:
        raise InputError("no conversation found in any of the files")
    [budget] = budgets
    return results, budget, sessions
