"""`python -m benchmarks.otel`: what the OpenTelemetry collector costs, beside what plain spans cost in the same run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler

from benchmarks import workloads
from benchmarks.floor import best_of
from benchmarks.run import CASES, run_stages, to_items
from pycupel import ContextBudget
from pycupel.integrations.otel import CupelOtelTraceCollector, CupelVerbosity

SIZES = (10, 100, 1_000)
PIPELINE = CASES["composite-greedy"]

# The most that StageOnly may add to an observed run, in multiples of six plain spans.
MOST_SPANS = 2.5
# The most that a collector may add to a plain run while there is no SDK, in parts of an observed run.
MOST_WITHOUT_SDK = 0.10


class Nowhere(SpanExporter):
    """Takes every span and does nothing, so that only the making of spans is measured."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002
        return SpanExportResult.SUCCESS


def provider(sampler: Sampler = ALWAYS_ON) -> TracerProvider:
    made = TracerProvider(sampler=sampler)
    made.add_span_processor(SimpleSpanProcessor(Nowhere()))
    return made


def six_spans(tracer: trace.Tracer) -> None:
    """A root and five children with three attributes each, in the cheapest way that there is."""
    attributes: dict[str, str | int] = {"name": "classify", "in": 100, "out": 90}
    root = tracer.start_span("root", attributes=attributes)
    context = trace.set_span_in_context(root)
    for _ in range(5):
        tracer.start_span("stage", context, attributes=attributes).end()
    root.end()


def measure(n: int, seconds: float) -> dict[str, float]:
    """Microseconds for each kind of run over `n` candidates."""
    rows = workloads.items(n)
    items, budget = to_items(rows), ContextBudget(*workloads.budget(rows))
    collectors = {
        "plain": None,
        # No global provider is set here, so this is a run without an SDK.
        "no SDK": CupelOtelTraceCollector("StageOnly"),
        "dropped": CupelOtelTraceCollector("StageOnly", provider(ALWAYS_OFF)),
    } | {verbosity.value: CupelOtelTraceCollector(verbosity, provider()) for verbosity in CupelVerbosity}
    works: dict[str, Callable[[], object]] = {"spans": partial(six_spans, provider().get_tracer("plain"))}
    for name, collector in collectors.items():
        works[name] = partial(PIPELINE.run, items, budget, collector=collector)
    works["observed"] = partial(run_stages, PIPELINE, items, budget)
    return best_of(works, seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter measurements")
    seconds = 0.1 if parser.parse_args().quick else 0.5
    sizes = [measure(n, seconds) for n in SIZES]

    def line(label: str, figures: list[float], style: str, most: float | None = None) -> bool:
        kept = most is None or max(figures) <= most
        limit = "" if most is None else f"limit {most:{style}}" if kept else f"OVER {most:{style}}"
        print(f"  {label:32}" + "".join(f"{figure:10{style}}" for figure in figures) + f"  {limit}".rstrip())
        return kept

    def added(name: str, to: str, unit: str) -> list[float]:
        return [(best[name] - best[to]) / best[unit] for best in sizes]

    print(f"{'candidates':34}" + "".join(f"{n:10}" for n in SIZES))
    print("microseconds, best of many")
    line("a plain run", [best["plain"] for best in sizes], ".0f")
    line("a run at Stage detail, report read", [best["observed"] for best in sizes], ".0f")
    line("six plain spans", [best["spans"] for best in sizes], ".0f")
    print("added to a plain run, in parts of an observed run")
    kept = line("no SDK", added("no SDK", "plain", "observed"), ".1%", MOST_WITHOUT_SDK)
    print("added to an observed run, in multiples of six plain spans")
    line("dropped by the sampler", added("dropped", "observed", "spans"), ".2f")
    for verbosity in CupelVerbosity:
        most = MOST_SPANS if verbosity is CupelVerbosity.STAGE_ONLY else None
        kept &= line(verbosity, added(verbosity, "observed", "spans"), ".2f", most)
    print("added to a plain run, in multiples of six plain spans")
    line("StageOnly", added("StageOnly", "plain", "spans"), ".2f")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
