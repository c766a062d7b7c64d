"""The instrumentor, against the real SDK: every selection of the process is a span, and what-if runs are none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

from pycupel import ContextItem, DiagnosticTraceCollector, Pipeline, select
from pycupel.cli import main
from pycupel.diagnostics import TraceDetailLevel
from pycupel.diagnostics.collector import collector_factories
from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.integrations._history import HistorySelector
from pycupel.integrations.otel import CupelInstrumentor, CupelVerbosity
from pycupel.messages import aselect_messages, select_messages
from tests.integrations.test_history import conversation, request
from tests.integrations.test_otel import BUDGET, ITEMS, PIPELINE, TREE, Recorder, attributes, events, isolated

QUESTION = {"role": "user", "content": "Where is the invoice?"}
HISTORY = [
    {"role": "system", "content": "Be brief."},
    *({"role": role, "content": f"{n} " * 50} for n in range(20) for role in ("user", "assistant")),
    QUESTION,
]
OPTIONS: dict[str, Any] = {"provider": "openai", "counter": len}


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    made = Recorder()
    CupelInstrumentor().instrument(made.provider)
    yield made
    CupelInstrumentor().uninstrument()
    made.provider.shutdown()


def messages_span(recorder: Recorder) -> dict[str, Any]:
    """The attributes of the only span there is, without their prefix."""
    [span] = recorder.spans
    assert span.name == "cupel.messages"
    return {name.removeprefix("cupel.messages."): value for name, value in attributes(span).items()}


# --- pipelines


def test_select_and_run_are_the_specifications_spans(recorder: Recorder) -> None:
    PIPELINE.run(ITEMS, BUDGET)
    ours = [(span.name, attributes(span)) for span in recorder.spans]
    recorder.exporter.clear()
    CupelInstrumentor().uninstrument()
    recorder.run("StageOnly")
    assert ours == [(span.name, attributes(span)) for span in recorder.spans]
    assert [name for name, _ in ours] == TREE


def test_select_and_streams_are_recorded(recorder: Recorder) -> None:
    select(ITEMS, BUDGET)
    assert recorder.names == TREE
    PIPELINE.run_stream_sync(iter(ITEMS), BUDGET)
    assert recorder.names == [*TREE, *TREE]


def test_a_selection_that_fails_is_an_error(recorder: Recorder) -> None:
    with pytest.raises(Exception, match="Pinned"):
        select([ContextItem("secret", 99, pinned=True)], 10)
    [span] = recorder.spans
    assert (span.name, span.status.status_code) == ("cupel.pipeline", StatusCode.ERROR)


def test_a_collector_of_the_callers_is_notified_as_well(recorder: Recorder) -> None:
    """Each gets what it would get alone."""
    for detail in TraceDetailLevel:
        own, alone = DiagnosticTraceCollector(detail), DiagnosticTraceCollector(detail)
        PIPELINE.run(ITEMS, BUDGET, collector=own)
        CupelInstrumentor().uninstrument()
        PIPELINE.run(ITEMS, BUDGET, collector=alone)
        CupelInstrumentor().instrument(recorder.provider)
        told = [
            [(event.stage, event.item_count, event.message) for event in each.build_report().events]
            for each in (own, alone)
        ]
        assert told[0] == told[1]
    assert recorder.names == [*TREE, *TREE]


def test_a_failed_run_is_told_to_every_collector(recorder: Recorder) -> None:
    own = DiagnosticTraceCollector(callback=lambda _: None)
    with pytest.raises(Exception, match="Pinned"):
        PIPELINE.run([ContextItem("secret", 99, pinned=True)], 10, collector=own)
    assert own.events == ()
    assert recorder.names == ["cupel.pipeline"]


@pytest.mark.parametrize("with_report", [False, True])
def test_a_result_is_the_same_with_the_instrumentor(recorder: Recorder, *, with_report: bool) -> None:
    def facts() -> Any:
        found = select(ITEMS, BUDGET, explain=with_report)
        report = found.report
        told = report and [(event.stage, event.item_count, event.message) for event in report.events]
        return found.items, found.notes, told, report and report.excluded

    observed = facts()
    CupelInstrumentor().uninstrument()
    assert facts() == observed
    assert recorder.names == TREE


def test_select_takes_a_collector() -> None:
    own = DiagnosticTraceCollector("Item")
    result = select(ITEMS, BUDGET, collector=own)
    assert [each.item for each in own.build_report().included] == result.items
    assert [event for event in own.events if event.message]
    with pytest.raises(TypeError, match="collector must be a TraceCollector"):
        select(ITEMS, BUDGET, collector="loud")  # type: ignore[call-overload]


def test_the_verbosity_is_that_of_the_collector(recorder: Recorder) -> None:
    CupelInstrumentor().instrument(recorder.provider, CupelVerbosity.FULL)
    select(ITEMS, BUDGET)
    assert recorder.names == TREE
    assert [name for name, _ in events(recorder.span("cupel.stage.place"))] == ["cupel.item.included"] * 3


# --- messages


def test_a_selection_of_messages_is_one_span_with_numbers(recorder: Recorder) -> None:
    selection = select_messages(HISTORY, 1_500, model="gpt-4o", **OPTIONS)
    assert selection.cut is not None
    assert messages_span(recorder) == {
        "provider": "openai",
        "model": "gpt-4o",
        "counter": "len",
        "count_in": 42,
        "count_out": len(selection.messages),
        "tokens": selection.usage.prompt,
        "window": 1_500,
        "prefix_tokens": 0,
        "shortened": 0,
        "cut.removed": selection.cut.removed,
        "cut.rewritten": selection.cut.rewritten,
        "dropped.BudgetExceeded": len(selection.dropped),
    }
    assert recorder.spans[0].parent is None


def test_the_span_is_under_the_callers_and_took_as_long_as_the_call(recorder: Recorder) -> None:
    with recorder.provider.get_tracer("test").start_as_current_span("request"):
        select_messages(HISTORY, 1_500, **OPTIONS)
    inner, outer = recorder.spans
    assert inner.parent == outer.get_span_context()
    assert (outer.start_time or 0) <= (inner.start_time or 0) < (inner.end_time or 0) <= (outer.end_time or 0)


def test_a_whole_history_has_neither_a_cut_nor_reasons(recorder: Recorder) -> None:
    select_messages([QUESTION], 1_500, **OPTIONS)
    assert sorted(messages_span(recorder)) == [
        "count_in",
        "count_out",
        "counter",
        "prefix_tokens",
        "provider",
        "shortened",
        "tokens",
        "window",
    ]


def test_the_shared_prefix_and_shortened_results_are_counted(recorder: Recorder) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    history = [
        QUESTION,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "line of a log\n" * 400},
    ]
    previous = select_messages(history, 2_000, too_large="shorten", **OPTIONS)
    assert messages_span(recorder)["shortened"] == 1
    recorder.exporter.clear()
    later = [*history, {"role": "assistant", "content": "It is here."}]
    again = select_messages(later, 2_000, previous=previous, too_large="shorten", **OPTIONS)
    assert messages_span(recorder)["prefix_tokens"] == again.stable_prefix_tokens > 0


def test_a_coroutine_is_observed_with_its_summary(recorder: Recorder) -> None:
    async def summarize(dropped: Any, previous: str | None) -> str:
        await asyncio.sleep(0.02)
        return "They talked."

    asyncio.run(aselect_messages(HISTORY, 1_500, summarize=summarize, **OPTIONS))
    [span] = recorder.spans
    assert (span.end_time or 0) - (span.start_time or 0) > 20e6


def test_a_failed_selection_of_messages_has_the_errors_type_and_nothing_of_its_text(recorder: Recorder) -> None:
    with pytest.raises(UnitTooLargeError):
        select_messages([{"role": "user", "content": "secret" * 100}], 50, model="gpt-4o", **OPTIONS)
    [span] = recorder.spans
    assert attributes(span) == {
        "cupel.messages.model": "gpt-4o",
        "error.type": "pycupel.errors.UnitTooLargeError",
    }
    assert span.status.status_code is StatusCode.ERROR


def test_content_never_leaves_the_process(recorder: Recorder) -> None:
    select_messages(
        [{"role": "user", "content": "a secret"}, QUESTION], 1_500, system="a secret", query="a secret", **OPTIONS
    )
    assert "secret" not in "".join(span.to_json() for span in recorder.spans)


def test_a_hook_adds_its_name_and_no_span(recorder: Recorder) -> None:
    selector = HistorySelector(8_000, {}, hook="some-framework")
    assert recorder.names == [], "checking the options is no selection"
    selector.select(request(conversation("Ann", 3)))
    assert messages_span(recorder)["hook"] == "some-framework"


# --- what is not recorded


def _why() -> object:
    return PIPELINE.dry_run(ITEMS, BUDGET).why(ITEMS[-1])


def _replay() -> object:
    from pycupel.replay import Call, History, replay  # noqa: PLC0415

    [found] = replay(History(tuple(HISTORY), "openai", (Call(40),)), 1_500, ["chat"], counter=len)
    assert found.calls == 1
    return found


def _batch() -> object:
    from pycupel.batch.request import RequestSelector  # noqa: PLC0415

    return RequestSelector("chat").row({"id": "a", "messages": HISTORY, "budget": 1_500})


@pytest.mark.parametrize(
    "what_if",
    [
        lambda: PIPELINE.dry_run(ITEMS, BUDGET),
        lambda: Pipeline.dry_run_with_policy(PIPELINE, ITEMS, BUDGET, "chat"),
        _why,
        _replay,
        _batch,
    ],
)
def test_a_what_if_run_is_no_span(recorder: Recorder, what_if: Callable[[], object]) -> None:
    """PL-06."""
    what_if()
    assert recorder.names == []


def test_the_command_line_is_no_span(recorder: Recorder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = tmp_path / "history.json"
    history.write_text(json.dumps(HISTORY), encoding="utf-8")
    assert main(["trim", str(history), "--budget", "1500"]) == 0
    assert capsys.readouterr().out
    assert recorder.names == []


# --- on and off


def test_instrumenting_twice_records_once(recorder: Recorder) -> None:
    CupelInstrumentor().instrument(recorder.provider, skip_dep_check=True)
    select(ITEMS, BUDGET)
    assert recorder.names == TREE


def test_after_uninstrumenting_nothing_is_recorded(recorder: Recorder) -> None:
    for _ in range(2):
        CupelInstrumentor().uninstrument()
    select(ITEMS, BUDGET)
    select_messages([QUESTION], 1_500, **OPTIONS)
    assert recorder.names == []
    assert collector_factories == []


def test_a_wrong_argument_leaves_it_as_it_was(recorder: Recorder) -> None:
    with pytest.raises(InvalidArgumentError):
        CupelInstrumentor().instrument(recorder.provider, "Everything")  # type: ignore[arg-type]
    select(ITEMS, BUDGET)
    assert recorder.names == TREE


def test_without_an_sdk_nothing_is_recorded(recorder: Recorder) -> None:
    del recorder
    CupelInstrumentor().instrument()
    select(ITEMS, BUDGET)
    select_messages([QUESTION], 1_500, **OPTIONS)


def test_opentelemetrys_agent_finds_it() -> None:
    [found] = entry_points(group="opentelemetry_instrumentor", name="cupel")
    assert found.load() is CupelInstrumentor


def test_without_it_nothing_is_imported() -> None:
    assert (
        isolated(
            "from pycupel import select\n"
            "select([ContextItem('one', 10)], 60)\n"
            "print(json.dumps('opentelemetry' in sys.modules))"
        )
        is False
    )


# --- observers that fail


class Failing:
    """A collector of somebody else's that raises."""

    is_enabled = True

    def on_messages(self, run: object) -> None:
        raise ValueError("no disk")


def test_an_observer_that_raises_is_logged_and_the_selection_is_made(
    recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    collector_factories[:0] = [Failing, lambda: 1 / 0]
    try:
        assert select_messages([QUESTION], 1_500, **OPTIONS).messages == [QUESTION]
    finally:
        del collector_factories[:2]
    assert [record.getMessage() for record in caplog.records] == [
        "ignored an exception raised by a factory of collectors",
        "ignored an exception raised by on_messages of Failing",
    ]
    assert recorder.names == ["cupel.messages"]


def test_two_instrumented_conversations_at_once_keep_their_hooks_apart(recorder: Recorder) -> None:
    async def talk(hook: str) -> None:
        selector = HistorySelector(8_000, {}, hook=hook)
        for turns in range(1, 4):
            await asyncio.to_thread(selector.select, request(conversation(hook, turns)))

    async def both() -> None:
        await asyncio.gather(talk("one"), talk("two"))

    asyncio.run(both())
    hooks: list[Any] = [attributes(span)["cupel.messages.hook"] for span in recorder.spans]
    assert sorted(hooks) == ["one"] * 3 + ["two"] * 3
