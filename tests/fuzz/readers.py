"""Every reader with broken documents: a value that can be written and read again, or one error of ours.

`python -m tests.fuzz.readers --minutes 15 --only yaml` runs one of them for longer than the tests do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from hypothesis import strategies as st

from pycupel import ContextBudget, ContextItem, SelectionReport, wire
from pycupel.errors import CupelError, DocumentError
from pycupel.messages import lint_messages, select_messages
from pycupel.messages.options import ProviderName
from pycupel.policies import dump_policy, parse_policy, policy_from_dict
from pycupel.policies.files import PolicyFormat
from pycupel.replay import read_log
from tests.fuzz.loop import fuzz, run_for_minutes
from tests.fuzz.mutations import HOSTILE, NASTY, Drawn, changed_texts, changed_values, corpus
from tests.processor_time import within

__all__ = ["READERS", "Reader"]

LONGEST_MESSAGE = 20_000
SECONDS = 5.0


class Reader(NamedTuple):
    """A reader: its inputs, and what holds for each of them."""

    inputs: st.SearchStrategy[Any]
    check: Callable[[Any], None]
    corpus: str


def outcome(work: Callable[[], Any], *refusals: type[Exception]) -> Any:
    """What is read, or the text of the error, which is short, in time, and can be shown."""

    def read_or_refusal() -> Any:
        try:
            return work()
        except refusals as error:
            refusal = f"{type(error).__name__}: {error}"
            repr(error).encode()
            assert len(refusal.encode()) < LONGEST_MESSAGE, f"a message of {len(refusal)} characters"
            return refusal

    return within(SECONDS, read_or_refusal)


def check_policy(form: PolicyFormat, text: str) -> None:
    policy = outcome(lambda: parse_policy(text, form), DocumentError)
    assert outcome(lambda: parse_policy(text, form), DocumentError) == policy, "the same twice"
    if isinstance(policy, str):
        return
    for other in ("json", "toml", "yaml"):
        assert parse_policy(dump_policy(policy, other), other) == policy, "written and read equal"


def check_policy_dict(document: Drawn) -> None:
    policy = outcome(lambda: policy_from_dict(document.value), DocumentError)
    if not isinstance(policy, str):
        assert repr(policy)


def check_text(cls: type[Any], text: str) -> None:
    for allow_nan in (False, True):
        value = outcome(partial(wire.loads, cls, text, allow_nan=allow_nan), DocumentError)
        outcome(partial(wire.loads, cls, text.encode(errors="replace"), strict=True), DocumentError)
        if not isinstance(value, str):
            written = wire.dumps(value, allow_nan=allow_nan)
            again = wire.loads(cls, written, allow_nan=allow_nan)
            # NaN equals nothing, itself included.
            assert again == value or "NaN" in written, "written and read equal"
            assert wire.dumps(again, allow_nan=allow_nan) == written
            assert repr(value)


def check_dict(cls: type[Any], document: Drawn) -> None:
    value = outcome(lambda: wire.from_dict(cls, document.value, allow_nan=True), DocumentError)
    if not isinstance(value, str):
        assert repr(value)
        with suppress(DocumentError):
            assert wire.to_dict(wire.from_dict(cls, wire.to_dict(value))) == wire.to_dict(value)


def check_lines(text: str) -> None:
    items = outcome(lambda: list(wire.read_items(text.splitlines())), DocumentError)
    if isinstance(items, str):
        assert items.startswith("DocumentError: line "), "with the number of the line"
    else:
        assert list(wire.read_items(map(wire.dumps, items))) == items


def check_log(text: str) -> None:
    lines = text.split("\n")
    log = outcome(lambda: read_log(lines))
    assert read_log(lines) == log or "NaN" in text, "the same twice"
    assert log.skipped_lines <= len(lines)
    assert repr(log)
    for history in log.histories:
        with suppress(CupelError):
            lint_messages(history.messages, history.provider)


PROVIDERS: tuple[ProviderName, ...] = ("auto", "openai", "responses", "anthropic", "gemini", "mistral")


def is_ours(error: Exception) -> bool:
    """Whether a TypeError is about an argument."""
    return isinstance(error, CupelError) or "argument" in vars(error)


def check_messages(drawn: Drawn) -> None:
    history = drawn.value
    for provider in PROVIDERS:
        for budget in (10**6, 120):
            work = partial(select_messages, history, budget, provider=provider, counter=len)
            selection = refusable(work)
            if not isinstance(selection, str):
                kept = list(selection.kept)
                assert kept == sorted(kept), "in order"
                # A result that must stay and does not fit is shortened in a copy of its message.
                shortened = {each.index for each in selection.shortened}
                sent = [(n, each) for n, each in zip(kept, selection.messages, strict=True) if n not in shortened]
                assert all(each is history[n] for n, each in sent), "the caller's messages"
                dropped = {each.index for each in selection.dropped}
                assert len(kept) + len(dropped) == len(history), "each message once"
                assert repr(selection)
        findings = refusable(partial(lint_messages, history, provider))
        if not isinstance(findings, str):
            assert all(0 <= finding.index <= len(history) for finding in findings)


def refusable(work: Callable[[], Any]) -> Any:
    def guarded() -> Any:
        try:
            return work()
        except (CupelError, TypeError) as error:
            if not is_ours(error):
                raise
            return f"{type(error).__name__}: {error}"

    return outcome(guarded)


def histories(nasty: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return changed_values("messages", nasty=nasty).filter(lambda drawn: type(drawn.value) is list)


READERS = {
    "policy json": Reader(changed_texts("json"), partial(check_policy, "json"), "json"),
    "policy toml": Reader(changed_texts("toml"), partial(check_policy, "toml"), "toml"),
    "policy yaml": Reader(changed_texts("yaml", "json"), partial(check_policy, "yaml"), "yaml"),
    "policy dict": Reader(changed_values("json", nasty=NASTY + HOSTILE), check_policy_dict, ""),
    "item": Reader(changed_texts("items"), partial(check_text, ContextItem), "items"),
    "item dict": Reader(changed_values("items", nasty=NASTY + HOSTILE), partial(check_dict, ContextItem), ""),
    "budget": Reader(changed_texts("budgets"), partial(check_text, ContextBudget), "budgets"),
    "report": Reader(changed_texts("reports"), partial(check_text, SelectionReport), "reports"),
    "report dict": Reader(changed_values("reports", nasty=NASTY + HOSTILE), partial(check_dict, SelectionReport), ""),
    "lines": Reader(changed_texts("lines"), check_lines, "lines"),
    "log": Reader(changed_texts("logs", "messages"), check_log, "logs"),
    "messages": Reader(histories(NASTY), check_messages, "messages"),
    "messages objects": Reader(histories(NASTY + HOSTILE), check_messages, ""),
}
"""Every reader by name."""


def check_corpus(reader: Reader) -> int:
    """Check the corpus of a reader as it is; how many texts that are."""
    texts = corpus(reader.corpus) if reader.corpus else []
    for text in texts:
        reader.check(Drawn(json.loads(text)) if reader.corpus == "messages" else text)
    return len(texts)


def fuzz_reader(reader: Reader, runs: int, end: float = math.inf) -> int:
    """Check that many random inputs of a reader, or until the clock says `end`; how many that were."""
    return fuzz(reader.check, reader.inputs, runs, end)


if __name__ == "__main__":
    run_for_minutes([(name, partial(fuzz_reader, reader)) for name, reader in READERS.items()], __doc__)
