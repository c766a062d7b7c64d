"""Parse a command line, with suggestions for what is misspelt, and the options that verbs share."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from pycupel import __version__
from pycupel.cli import GROUPS, VERBS
from pycupel.cli.exits import USAGE, InputError, screen_width


class Verb(NamedTuple):
    """A verb of the command line."""

    run: Callable[[Any, Any], int]  # With its options, on a `Screen`; returns the exit code.
    add_arguments: Callable[[Parser], None]
    example: str  # Command lines that can be pasted.


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Formats help for the screen width. Without a width, argparse would import `shutil`, which takes too long."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=screen_width() - 2)


class Parser(argparse.ArgumentParser):
    """A parser that accepts choices in any spelling of their names, and suggests corrections for misspelt arguments."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **options)
        self.register("type", int, _reader(int, "a whole number"))
        self.register("type", float, _reader(float, "a number"))
        self._given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Parse as argparse does, but take `files` on both sides of an option, and reject what is left over.

        Otherwise, what an action of a verb does not know would be an error of the verb, without the suggestion.
        """
        self._given = args or ()
        options, rest = super().parse_known_args(args, namespace)
        if "files" in options and not any(each.startswith("-") and each != "-" for each in rest):
            options.files += rest
            rest = []
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return options, rest

    def error(self, message: str) -> NoReturn:
        """Raise the message as an error, with a hint at the help."""
        found = [re.match(r"--[\w-]+", each) for each in self._given]
        misspelt = [each[0] for each in found if each and each[0] not in self._option_string_actions]
        # A misspelt option may be the missing one, and what follows it may be its value.
        if misspelt and message.startswith(("the following arguments are required", "unrecognized arguments")):
            message = f"unrecognized arguments: {' '.join(misspelt)}{_near(misspelt[0], self._option_string_actions)}"
        raise InputError(f"{message}\n  {self.prog} --help lists its arguments")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if action.choices is not None:
            # Of an action of a verb and its own arguments, only the first is a choice.
            end = 1 if action.nargs == argparse.PARSER else len(arg_strings)
            arg_strings = [*(_resolved(each, action.choices) for each in arg_strings[:end]), *arg_strings[end:]]
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [*action.choices]
            raise argparse.ArgumentError(
                action, f"unknown value {value!r}; choose from {', '.join(known)}{_near(value, known)}"
            )


def _reader(kind: Callable[[str], Any], name: str, least: float = float("-inf")) -> Callable[[str], Any]:
    """Reads a value of that type. The errors of argparse would name the Python type."""

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or value < least:
            raise argparse.ArgumentTypeError(f"must be {name}, not {text!r}")
        return value

    return read


_positive = _reader(int, "a whole number above 0", 1)


def run_without_verb(given: Sequence[str]) -> int:
    """Handle a command line that does not begin with a verb: show the help or the version, or say what is wrong."""
    groups = [
        f"{group}:\n" + "".join(f"  {name:12} {summary}\n" for name, summary in verbs.items())
        for group, verbs in GROUPS.items()
    ]
    parser = Parser(
        prog="pycupel",
        usage="pycupel VERB ...",
        description="Decide what goes into the context window, and know why.",
        epilog="\n".join([*groups, "`pycupel VERB --help` explains a verb. Start with: pycupel demo"]),
    )
    parser.add_argument("--version", action="version", version=f"pycupel {__version__}")
    if not given:
        parser.print_help(sys.stderr)
        return USAGE
    first, *rest = given
    if first == "help":
        # `pycupel help trim` is `pycupel trim --help`.
        known = [name for name in rest if name in VERBS]
        (verb_parser(known[0], load_verb(known[0])) if known else parser).parse_args(["--help"])
    if first.startswith("-"):
        verb = next((each for each in rest if each in VERBS), None)
        if verb is not None and first not in {"-h", "--help", "--version"}:
            raise InputError(f"options come after the verb: pycupel {verb} {first} ...")
        parser.parse_args([first])
    raise InputError(f"unknown verb {first!r}{_near(first, VERBS)}\n  pycupel --help lists them")


def load_verb(name: str) -> Verb:
    """Import the module of a verb's group, and return the verb."""
    group = next(group for group, verbs in GROUPS.items() if name in verbs)
    # The demonstration has a module of its own: it needs nothing of what reads logs.
    verb: Verb = import_module(f"pycupel.cli.{'demo' if name == 'demo' else group}").VERBS[name]
    return verb


def verb_parser(name: str, verb: Verb) -> Parser:
    """Make the parser of a verb."""
    example = "\n".join(f"  {line}" for line in verb.example.strip().splitlines())
    parser = Parser(prog=f"pycupel {name}", description=as_sentence(VERBS[name]), epilog=f"example:\n{example}")
    verb.add_arguments(parser)
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    text = "import a module that registers strategies of your own; may be repeated"
    parser.add_argument("--import", action="append", default=[], dest="imports", metavar="MODULE", help=text)
    add_quiet(parser)
    parser.set_defaults(quiet=False)
    return parser


def add_quiet(parser: Parser) -> None:
    """Add `--quiet`. It has no default, so that an action of a verb does not undo what the verb was given."""
    text = "suppress notes and the summary on stderr"
    parser.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help=text)


def as_sentence(summary: str) -> str:
    """Make a sentence of what a verb does."""
    return f"{summary[0].upper()}{summary[1:]}."


def _resolved(given: str, choices: Any) -> str:
    """Return the choice in its usual spelling: `--engine LOCAL` is `local`. Unknown ones are left as they are."""
    if given in choices:
        return given
    from pycupel.model.checks import find_name  # noqa: PLC0415 - the usual spelling does not need it

    return find_name(given, choices) or given


def _near(name: str, known: Any) -> str:
    from pycupel.model.checks import suggestion  # noqa: PLC0415 - only mistakes need it

    return suggestion(name, known)


# The options that verbs share.


DROPPING = "with `+drop` to drop old results instead of shortening them"
"""What the help of verbs says about the names of policies for chat histories."""

_ITEMS = "items: a JSON array or JSON lines"
_POLICY = "a preset (`pycupel policy list`) or a policy file"
_POLICY_FILE = re.compile(r"\.(json|toml|ya?ml)$", re.IGNORECASE)
# The options that mean the same in every verb that has them.
_SHARED: dict[str, dict[str, Any]] = {
    "--query": {"metavar": "TEXT", "help": "the question that the selection should answer"},
    "--provider": {
        "default": "auto",
        "metavar": "NAME",
        "help": "openai, responses, anthropic, gemini, mistral, converse or interactions; default: detected",
    },
    "--json": {"action": "store_true", "help": "JSON instead of a table"},
    "--html": {"metavar": "FILE", "help": "write an HTML page instead; - for stdout"},
}


def add_shared(parser: Parser, *names: str) -> None:
    """Add options that mean the same in every verb: `--query`, `--provider`, `--json`, `--html`."""
    for name in names:
        parser.add_argument(*(["-q"] if name == "--query" else []), name, **_SHARED[name])


def add_selection(
    parser: Parser, *, file: str = _ITEMS, budget: str = "", needs_budget: bool = True, policies: bool = False
) -> None:
    """Add `FILE`, how to read its items, `--budget`, `--policy` or several of them, and `--query`."""
    add_input(parser, f"{file}; - for stdin")
    parser.add_argument("--strict", action="store_true", help="reject unknown keys instead of warning")
    add_counter(parser, "counter for items without a token count")
    add_budget(parser, required=needs_budget, text=budget)
    if policies:
        add_several_policies(parser, "; give at least two")
    else:
        add_policy(parser)
    add_shared(parser, "--query")


def add_input(parser: Parser, text: str, *, several: str = "", optional: bool = False) -> None:
    """Add `FILE`, or several files with that name for each, and `--max-line`."""
    if several:
        parser.add_argument("files", nargs="+", metavar=several, help=text)
    else:
        parser.add_argument("file", nargs="?" if optional else None, metavar="FILE", help=text)
    from pycupel.codecs.json_values import MAX_LINE  # noqa: PLC0415 - the help of the program loads nothing

    most = f"longest line to read, in bytes; default: {MAX_LINE // 2**20} MiB"
    parser.add_argument("--max-line", type=int, default=MAX_LINE, metavar="N", help=most)


def add_counter(parser: Parser, purpose: str) -> None:
    """Add `--counter`."""
    parser.add_argument("--counter", default="auto", metavar="NAME", help=f"{purpose}: auto, estimator, a model")


def add_budget(parser: Parser, *, required: bool = True, text: str = "") -> None:
    """Add `--budget`, and the options that a share of a window needs."""
    text = text or "tokens, or a share of what the model takes like 50%%"
    parser.add_argument("-b", "--budget", required=required, metavar="N|N%", help=text)
    parser.add_argument("--window", type=_positive, metavar="N", help="the model's window, for a budget in percent")
    parser.add_argument("--model", metavar="NAME", help="the model whose limits and tokenizer to use")


def add_policy(parser: Parser, more: str = "") -> None:
    """Add `--policy`, with `more` in its help."""
    parser.add_argument("-p", "--policy", default="chat", metavar="NAME|FILE", help=f"{_POLICY}{more}; default: chat")


def add_several_policies(parser: Parser, more: str) -> None:
    """Add `--policy`, which may be given several times; the help ends with `more`."""
    parser.add_argument("-p", "--policy", action="append", metavar="NAME|FILE", help=f"{_POLICY}{more}")


# What the values of those options mean.


def budget_of(
    options: Any, model: str | None = None, *, policy: Any = None, reply: int = 0, given: str | None = None
) -> int:
    """Return the budget in tokens; a share is one of this model's input limit, unless the options name another.

    A share also leaves room in the window for a reply of so many tokens. The policy may have models of its own. One of
    several budgets is `given`.
    """
    number, is_share = parse_amount(options.budget if given is None else given)
    if not is_share:
        return int(number)
    window, most = _limits(options, options.model or model, policy)
    try:
        share = int(most * number / 100)
    except OverflowError:
        raise InputError("the window is too large for a budget in percent") from None
    if reply and reply >= window:
        raise InputError(
            f"the request asks for a reply of up to {reply:,} tokens, which leaves nothing of the window of "
            f"{window:,}; lower that, or pass a budget in tokens"
        )
    return min(share, window - reply)


def parse_amount(given: str) -> tuple[float, bool]:
    """Read a number of tokens or a percentage; return the number, and whether it is a percentage."""
    text = given.strip()
    try:
        number = float(text[:-1]) if text.endswith("%") else int(text.replace(",", ""))
    except ValueError:
        thousands = re.fullmatch(r"(\d+)k", text, re.IGNORECASE)
        meant = f"; did you mean {thousands[1]}000?" if thousands else ""
        raise InputError(f"the budget must be a number of tokens or a share like 50%, not {given!r}{meant}") from None
    if not text.endswith("%"):
        if number < 0:
            raise InputError(f"the budget must be 0 or more, not {number}")
        return int(number), False
    if not 0 < number <= 100:
        raise InputError(f"a share of the window must be above 0% and at most 100%, not {given}")
    return number, True


def _limits(options: Any, model: str | None, policy: Any) -> tuple[int, int]:
    """Return the window and the most input."""
    if options.window is not None:
        return options.window, options.window
    if model is None:
        raise InputError("a budget in percent needs --window N or --model NAME")
    from pycupel.tokens.models import known_limits  # noqa: PLC0415

    return known_limits(model, {} if policy is None else policy.models)[:2]


def bound(policy: Any, query: str | None) -> Any:
    """Bind the policy to the query, if there is one."""
    return policy if query is None else policy.for_query(query)


def policy_of(given: str) -> Any:
    """Load the policy in a file, or return the preset of that name."""
    if _POLICY_FILE.search(given):
        from pycupel.policies import load_policy  # noqa: PLC0415

        return load_policy(given)
    from pycupel.errors import InvalidArgumentError  # noqa: PLC0415
    from pycupel.policies.presets import preset  # noqa: PLC0415

    try:
        return preset(given)
    except InvalidArgumentError as error:
        if os.path.isfile(given):  # noqa: PTH113 - `pathlib` takes too long to import
            error.add_note("The name of a policy file must end with .json, .toml, .yaml or .yml.")
        raise


def history_policy_of(given: str) -> Any:
    """Return a policy for chat histories; with `+drop` after its name, it drops results instead of shortening them."""
    from pycupel.pipeline.policy import history_policy  # noqa: PLC0415 - most verbs never need it

    return history_policy(given, policy_of)
