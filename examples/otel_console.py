"""Record a selection as an OpenTelemetry trace, and print its spans.

Run ``pip install 'pycupel[otel]' opentelemetry-sdk`` and ``python examples/otel_console.py``. The session is that of
``demo.py``. In a service, use the exporter for your backend instead of the one in memory; nothing else changes.
"""

import json
import sys
from collections import Counter
from collections.abc import Sequence

try:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
except ImportError:
    sys.exit("this example needs OpenTelemetry's SDK: pip install 'pycupel[otel]' opentelemetry-sdk")

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
from pycupel.cli.demo import SESSION
from pycupel.integrations.otel import CupelOtelTraceCollector, CupelVerbosity
from pycupel.wire import from_dict

BUDGET = ContextBudget(4_000, 3_000, output_reserve=500)
PIPELINE = Pipeline(
    CompositeScorer([(RecencyScorer(), 2), (KindScorer(), 2), (ReflexiveScorer(), 3), (PriorityScorer(), 1)])
)
BAR = 28


def record(verbosity: CupelVerbosity) -> list[ReadableSpan]:
    """The spans of an agent's turn and of the selection in it, by start time."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    collector = CupelOtelTraceCollector(verbosity, provider)
    items = [from_dict(ContextItem, entry) for entry in json.loads(SESSION.read_text(encoding="utf-8"))]
    # The first run also loads modules, so the second one is shown.
    for _ in range(2):
        exporter.clear()
        with provider.get_tracer("my-agent").start_as_current_span("agent.turn"):
            PIPELINE.run(items, BUDGET, collector=collector)
    return sorted(exporter.get_finished_spans(), key=lambda span: (span.start_time, span.name))


def depth(span: ReadableSpan, spans: Sequence[ReadableSpan]) -> int:
    """The number of spans around this one."""
    parents = [each for each in spans if span.parent is not None and each.context == span.parent]
    return 1 + depth(parents[0], spans) if parents else 0


def nanoseconds(span: ReadableSpan) -> tuple[int, int]:
    """The start and end of a span."""
    return span.start_time or 0, span.end_time or 0


def attributes_of(span: ReadableSpan) -> dict[str, str]:
    """The attributes as strings."""
    return {name: str(value) for name, value in (span.attributes or {}).items()}


def details(span: ReadableSpan) -> list[str]:
    """A span's attributes, and the number of its events by name and by reason or kind."""
    attributes = [f"{name} {value}" for name, value in attributes_of(span).items() if name != "cupel.stage.name"]
    events = [f"{count} x {event}: {what}" for (event, what), count in event_counts(span).items()]
    return [", ".join(attributes), *events] if attributes else events


def event_counts(span: ReadableSpan) -> Counter[tuple[str, str]]:
    """The number of events of a span, by name and by reason or kind."""
    counts: Counter[tuple[str, str]] = Counter()
    for event in span.events:
        attribute = "cupel.exclusion.reason" if event.name == "cupel.exclusion" else "cupel.item.kind"
        counts[event.name, str((event.attributes or {})[attribute])] += 1
    return counts


def main() -> None:
    """Print each span: its name, when it ran, how long it took, and its details."""
    spans = record(CupelVerbosity.STAGE_AND_EXCLUSIONS)
    first, last = nanoseconds(spans[0])
    for span in spans:
        start, end = nanoseconds(span)
        left, right = ((time - first) * BAR // (last - first) for time in (start, end))
        bar = " " * left + "#" * max(1, right - left)
        indent = "  " * depth(span, spans)
        print(f"{indent + span.name:30} |{bar:{BAR}}| {(end - start) / 1e6:9.3f} ms")
        for line in details(span):
            # Every attribute and event is named cupel.something.
            print(f"{indent}    {line.replace('cupel.', '')}")


if __name__ == "__main__":
    main()
