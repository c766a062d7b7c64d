"""OpenTelemetry: record selections as spans, with real times and without content.

    CupelInstrumentor().instrument()

records every `select`, `Pipeline.run` and `select_messages` of the process; a `CupelOtelTraceCollector` records the
runs that it is passed to. A run is `cupel.pipeline` with a span for each stage, a selection from a chat history one
span, `cupel.messages`. The attributes are those of the specification, which calls them pre-stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextvars import ContextVar
from time import perf_counter_ns, time_ns
from typing import Any, Literal, cast

from pycupel import __version__
from pycupel.diagnostics import (
    ExcludedItem,
    IncludedItem,
    PipelineStage,
    SelectionReport,
    StageTraceSnapshot,
    TraceCollector,
    TraceEvent,
)
from pycupel.diagnostics.collector import MessagesRun, collector_factories
from pycupel.diagnostics.reasons import reason_name
from pycupel.errors import InvalidArgumentError
from pycupel.extras import missing_library
from pycupel.model import ContextBudget
from pycupel.model.checks import NamedEnum, checked_name, checked_str, wrong_type
from pycupel.model.item import version_mark

try:
    from opentelemetry.trace import (
        NoOpTracer,
        ProxyTracer,
        Span,
        Status,
        StatusCode,
        Tracer,
        TracerProvider,
        get_current_span,
        get_tracer,
        set_span_in_context,
    )
except ModuleNotFoundError as error:
    raise missing_library(error, "otel") from error

__all__ = ["SOURCE_NAME", "CupelInstrumentor", "CupelOtelTraceCollector", "CupelVerbosity"]

SOURCE_NAME = "cupel"
"""The default name of the instrumentation scope."""


class CupelVerbosity(NamedEnum):
    """How much of a run is recorded."""

    STAGE_ONLY = "StageOnly"
    """A span for the run and for each stage, with counts."""

    STAGE_AND_EXCLUSIONS = "StageAndExclusions"
    """Also a span event for each excluded item."""

    FULL = "Full"
    """Also a span event for each selected item."""


class _Run:
    """A run in progress: its root span, and when its stages ended."""

    __slots__ = ("_wall_clock", "collector", "ends", "root", "start", "tracer")

    def __init__(self, collector: CupelOtelTraceCollector, tracer: Tracer, budget: ContextBudget) -> None:
        self.collector = collector
        self.tracer = tracer
        self.start = time_ns()
        # The wall clock may be changed during a run, so it is read once; a monotonic clock measures the rest.
        self._wall_clock = self.start - perf_counter_ns()
        self.ends: dict[str, int] = {}
        attributes = {"cupel.budget.max_tokens": budget.max_tokens, "cupel.verbosity": collector.verbosity.value}
        self.root = tracer.start_span("cupel.pipeline", attributes=attributes, start_time=self.start)

    def now(self) -> int:
        return self._wall_clock + perf_counter_ns()


# The runs in progress in this thread or task, the innermost last. A run may contain others, if a scorer runs its own
# pipeline; and one run may have several collectors.
_RUNS: ContextVar[tuple[_Run, ...]] = ContextVar("pycupel_otel_runs", default=())


class CupelOtelTraceCollector(TraceCollector):
    """Records each run that it is passed to as a tree of spans, under the caller's current span.

    Spans have counts, kinds, tokens, scores and the names of reasons; never content, metadata or the text of an error.
    One collector may observe many runs, even at the same time in several threads or tasks.

    Args:
        verbosity: How much is recorded. `STAGE_ONLY` is meant for production, `FULL` for development.
        tracer_provider: The provider of the tracer; by default the global one, even if it is set later.
        tracer_name: The name of the instrumentation scope; by default "cupel".

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: there is no such verbosity.
    """

    __slots__ = ("_tracer", "tracer_name", "tracer_provider", "verbosity")

    def __init__(
        self,
        verbosity: CupelVerbosity | Literal["StageOnly", "StageAndExclusions", "Full"],
        tracer_provider: TracerProvider | None = None,
        tracer_name: str = SOURCE_NAME,
    ) -> None:
        self.verbosity = checked_name("verbosity", verbosity, CupelVerbosity, InvalidArgumentError)
        if tracer_provider is not None and not callable(getattr(cast(Any, tracer_provider), "get_tracer", None)):
            raise wrong_type("tracer_provider", "a TracerProvider", tracer_provider)
        self.tracer_provider = tracer_provider
        self.tracer_name = checked_str("tracer_name", tracer_name)
        self._tracer: Tracer | None = None

    @property
    def is_enabled(self) -> bool:
        """Whether spans are recorded: there is an SDK, and its sampler has not dropped the span around the run."""
        # OT-08.
        if isinstance(self._tracer_in_use(), (ProxyTracer, NoOpTracer)):
            return False
        # A provider that was given may sample differently from the one that made the span.
        return self.tracer_provider is not None or not _is_dropped(get_current_span())

    def on_pipeline_started(self, budget: ContextBudget, /) -> None:
        """Start the span of the run."""
        _RUNS.set((*_RUNS.get(), _Run(self, self._tracer_in_use(), budget)))

    def record_stage_event(self, event: TraceEvent, /) -> None:
        """Note the time at which the stage ended."""
        if (run := self._current_run()) is not None:
            run.ends[event.stage] = run.now()

    def on_pipeline_completed(
        self, report: SelectionReport, _budget: ContextBudget, snapshots: Sequence[StageTraceSnapshot], /
    ) -> None:
        """End the span of the run, with a span for each stage."""
        self._end_run(snapshots, report, None)

    def on_pipeline_failed(
        self, error: BaseException, _budget: ContextBudget, snapshots: Sequence[StageTraceSnapshot], /
    ) -> None:
        """End the span of the run with an error, with a span for each completed stage."""
        self._end_run(snapshots, None, error)

    def on_messages(self, run: MessagesRun, /) -> None:
        """Record a selection from a chat history, which has just ended, as one span."""
        end = time_ns()
        start = end - int(run.seconds * 1e9)
        attributes = _messages_attributes(run)
        span = self._tracer_in_use().start_span("cupel.messages", attributes=attributes, start_time=start)
        if run.error is not None:
            _record_error(span, run.error)
        span.end(end)

    def _tracer_in_use(self) -> Tracer:
        """Return the provider's tracer, or a proxy as long as no provider is set."""
        if self._tracer is None or isinstance(self._tracer, ProxyTracer):
            self._tracer = get_tracer(self.tracer_name, __version__, self.tracer_provider)
        return self._tracer

    def _current_run(self) -> _Run | None:
        return next((run for run in reversed(_RUNS.get()) if run.collector is self), None)

    def _end_run(
        self, snapshots: Sequence[StageTraceSnapshot], report: SelectionReport | None, error: BaseException | None
    ) -> None:
        run = self._current_run()
        if run is None:
            return
        _RUNS.set(tuple(each for each in _RUNS.get() if each is not run))
        if run.root.is_recording():
            end = run.now()
            self._record_stages(run, end, snapshots, report)
            if error is not None:
                _record_error(run.root, error)
            run.root.end(end)

    def _record_stages(
        self, run: _Run, latest: int, snapshots: Sequence[StageTraceSnapshot], report: SelectionReport | None
    ) -> None:
        """Make a span for each stage: it ended when its event came, and started its duration earlier (OT-02)."""
        context = set_span_in_context(run.root)
        with_exclusions = self.verbosity is not CupelVerbosity.STAGE_ONLY
        earliest = run.start
        for snapshot in snapshots:
            name = snapshot.stage.lower()
            attributes: dict[str, str | int] = {
                "cupel.stage.name": name,
                "cupel.stage.item_count_in": snapshot.item_count_in,
                "cupel.stage.item_count_out": snapshot.item_count_out,
            }
            if with_exclusions:
                attributes["cupel.exclusion.count"] = len(snapshot.excluded)
            end = run.ends.get(snapshot.stage, latest)
            start = max(earliest, end - int(snapshot.duration_ms * 1e6))
            span = run.tracer.start_span(f"cupel.stage.{name}", context, attributes=attributes, start_time=start)
            # Change these two when OpenTelemetry moves events from spans to logs.
            for excluded in snapshot.excluded if with_exclusions else ():
                span.add_event("cupel.exclusion", _exclusion_attributes(excluded), end)
            is_full = self.verbosity is CupelVerbosity.FULL and snapshot.stage is PipelineStage.PLACE
            for included in report.included if report is not None and is_full else ():
                span.add_event("cupel.item.included", _included_attributes(included), end)
            span.end(end)
            earliest = end


class CupelInstrumentor:
    """Records every `select`, `Pipeline.run` and `select_messages` of this process, also those of hooks.

    What-if runs are not recorded: `dry_run`, `why`, sweeps, `replay`, batches and the command line. OpenTelemetry's
    agent, `opentelemetry-instrument`, finds this class by its entry point. Nothing is patched.
    """

    __slots__ = ()

    def instrument(
        self,
        tracer_provider: TracerProvider | None = None,
        verbosity: CupelVerbosity | Literal["StageOnly", "StageAndExclusions", "Full"] = CupelVerbosity.STAGE_ONLY,
        **ignored: object,  # noqa: ARG002
    ) -> None:
        """Record from now on. A second call replaces the arguments of the first.

        Args:
            tracer_provider: As for a `CupelOtelTraceCollector`.
            verbosity: How much is recorded of a pipeline.
            **ignored: What OpenTelemetry's agent passes to every instrumentor.
        """
        collector = _Instrumented(verbosity, tracer_provider)
        self.uninstrument()
        collector_factories.append(collector)

    def uninstrument(self, **ignored: object) -> None:  # noqa: ARG002
        """Stop recording."""
        collector_factories[:] = [each for each in collector_factories if not isinstance(each, _Instrumented)]


class _Instrumented(CupelOtelTraceCollector):
    """A collector for all runs, which is its own factory: one may observe many at once."""

    __slots__ = ()

    def __call__(self) -> CupelOtelTraceCollector:
        return self


def _messages_attributes(run: MessagesRun) -> dict[str, str | int]:
    """Describe a selection from a chat history in numbers and names."""
    found: dict[str, str | int | None] = {"model": run.model, "hook": run.hook}
    selection = run.selection
    if selection is not None:
        found |= {
            "provider": selection.provider,
            "counter": selection.counter,
            "count_in": selection.history_length,
            "count_out": len(selection.messages),
            "tokens": selection.usage.prompt,
            "window": selection.usage.window,
            "prefix_tokens": selection.stable_prefix_tokens,
            "shortened": len(selection.shortened),
        }
        if selection.cut is not None:
            found |= {"cut.removed": selection.cut.removed, "cut.rewritten": selection.cut.rewritten}
        reasons = Counter(reason_name(each.reason) for each in selection.dropped)
        found |= {f"dropped.{name}": count for name, count in reasons.items()}
    return {f"cupel.messages.{name}": value for name, value in found.items() if value is not None}


def _is_dropped(span: Span) -> bool:
    """Whether a sampler in this process dropped the span. Decisions of other processes do not count."""
    context = span.get_span_context()
    return context.is_valid and not context.is_remote and not span.is_recording()


def _exclusion_attributes(excluded: ExcludedItem) -> dict[str, str | int]:
    return {
        "cupel.exclusion.reason": reason_name(excluded.reason),
        "cupel.exclusion.item_kind": excluded.item.kind.value,
        "cupel.exclusion.item_tokens": excluded.item.tokens,
    }


def _included_attributes(included: IncludedItem) -> dict[str, str | int | float]:
    item = included.item
    attributes: dict[str, str | int | float] = {"cupel.item.kind": item.kind.value, "cupel.item.tokens": item.tokens}
    attributes["cupel.item.score"] = included.score
    if version_mark(item) is not None and item.original_tokens is not None:
        attributes["cupel.item.original_tokens"] = item.original_tokens
    return attributes


def _record_error(span: Span, error: BaseException) -> None:
    """Record only the type: the text and the traceback of an exception may quote content (OT-10)."""
    name = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    span.set_attribute("error.type", name)
    span.set_status(Status(StatusCode.ERROR, name))
