"""Record a selection as an OpenTelemetry trace, and show its spans on the console.

Run ``pip install 'pycupel[otel]' opentelemetry-sdk`` and ``python examples/otel_console.py``. The session is the one of
``demo.py``. In a service, an exporter for your backend takes the place of the one in memory; nothing else changes.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    KindScorer,
    Pipeline,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
)
from pycupel.integrations.otel import CupelOtelTraceCollector, CupelVerbosity
from pycupel.wire import from_dict

SESSION = Path(__file__).with_name("agent_session.json")
BUDGET = ContextBudget(8_000, 6_000, output_reserve=1_000)
PIPELINE = Pipeline(
    CompositeScorer([(RecencyScorer(), 2), (KindScorer(), 2), (ReflexiveScorer(), 3), (PriorityScorer(), 1)])
)
BAR = 28


def record(verbosity: CupelVerbosity) -> list[ReadableSpan]:
    """The spans of one selection, and of the turn of an agent in which it happens, in the order of their starts."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    collector = CupelOtelTraceCollector(verbosity, provider)
    items = [from_dict(ContextItem, entry) for entry in json.loads(SESSION.read_text(encoding="utf-8"))]
    # The first run loads what later ones find loaded, so it is the second that is shown.
    for _ in range(2):
        exporter.clear()
        with provider.get_tracer("my-agent").start_as_current_span("agent.turn"):
            PIPELINE.run(items, BUDGET, collector=collector)
    return sorted(exporter.get_finished_spans(), key=lambda span: (span.start_time, span.name))


def depth(span: ReadableSpan, spans: Sequence[ReadableSpan]) -> int:
    """How many spans this one is inside of."""
    parents = [each for each in spans if span.parent is not None and each.context == span.parent]
    return 1 + depth(parents[0], spans) if parents else 0


def nanoseconds(span: ReadableSpan) -> tuple[int, int]:
    """When a span started and ended."""
    return span.start_time or 0, span.end_time or 0


def attributes_of(span: ReadableSpan) -> dict[str, str]:
    """The attributes, as text."""
    return {name: str(value) for name, value in (span.attributes or {}).items()}


def told(span: ReadableSpan) -> list[str]:
    """What a span says beside its name: its attributes, and how many events there are of each sort."""
    attributes = [f"{name} {value}" for name, value in attributes_of(span).items() if name != "cupel.stage.name"]
    events = [f"{count} x {event}: {what}" for (event, what), count in sorts_of_events(span).items()]
    return [", ".join(attributes), *events] if attributes else events


def sorts_of_events(span: ReadableSpan) -> Counter[tuple[str, str]]:
    """The events of a span, counted by name and by reason or kind."""
    sorts: Counter[tuple[str, str]] = Counter()
    for event in span.events:
        attribute = "cupel.exclusion.reason" if event.name == "cupel.exclusion" else "cupel.item.kind"
        sorts[event.name, str((event.attributes or {})[attribute])] += 1
    return sorts


def main() -> None:
    """Print every span: its name, when it ran, how long it took, what it says."""
    spans = record(CupelVerbosity.STAGE_AND_EXCLUSIONS)
    first, last = nanoseconds(spans[0])
    for span in spans:
        start, end = nanoseconds(span)
        left, right = ((time - first) * BAR // (last - first) for time in (start, end))
        bar = " " * left + "#" * max(1, right - left)
        indent = "  " * depth(span, spans)
        print(f"{indent + span.name:30} |{bar:{BAR}}| {(end - start) / 1e6:9.3f} ms")
        for line in told(span):
            # Every attribute and event is named cupel.something.
            print(f"{indent}    {line.replace('cupel.', '')}")


if __name__ == "__main__":
    main()
