"""Draw the trace of `examples/otel_console.py`: `python -m tools.trace_picture docs/images/otel-trace.svg`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan

from examples.otel_console import attributes_of, depth, event_counts, nanoseconds, record
from pycupel.integrations.otel import CupelVerbosity

WIDTH, MARGIN, INDENT = 900, 24, 16
# The names of the spans are left of the time line, the durations of long ones right of it.
TIMELINE, TIMELINE_END = 260, 810
HEADER, ROW, LINE = 56, 32, 16

STYLE = """
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2430 }
.small { font-size: 11.5px; fill: #596273 }
.says { font: 11px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #596273 }
.event { fill: #b4451f }
.grid { stroke: #e3e6ec }
"""
COLOURS = ["#9aa3b2", "#4453c4", "#2a9d8f"]


class Picture:
    """A card with a time line, and a row for each span. The first span is around all others."""

    def __init__(self, spans: Sequence[ReadableSpan]) -> None:
        self.spans = spans
        self.first, self.last = nanoseconds(spans[0])
        self.bottom = HEADER + sum(ROW + LINE * len(_details(span)) for span in spans)

    def svg(self) -> str:
        size = f'width="{WIDTH}" height="{self.bottom + MARGIN // 2}"'
        names = escape(", ".join(span.name for span in self.spans))
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{names}">',
            f"<style>{STYLE}</style>",
            f'<rect {size} rx="10" fill="#fff"/>',
            *self.axis(),
            *self.rows(),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def x(self, time: int) -> float:
        return TIMELINE + (time - self.first) * (TIMELINE_END - TIMELINE) / (self.last - self.first)

    def axis(self) -> Iterator[str]:
        """At most eight lines, a round number of microseconds apart."""
        took = self.last - self.first
        step = next(step for step in (10, 20, 50, 100, 200, 500, 1_000, 10_000) if took <= step * 8_000) * 1_000
        for time in range(0, took + 1, step):
            x = self.x(self.first + time)
            yield f'<path class="grid" d="M{x:.1f} {HEADER - 12}V{self.bottom}"/>'
            yield _text(x, HEADER - 22, f"{time // 1_000} µs", "small", anchor="middle")

    def rows(self) -> Iterator[str]:
        top = HEADER
        for span in self.spans:
            level = depth(span, self.spans)
            left = MARGIN + INDENT * level
            yield _text(left, top + 15, span.name)
            yield from self.bar(span, top, COLOURS[min(level, 2)])
            for line, style in _details(span):
                top += LINE
                yield _text(left, top + 16, line, style)
            top += ROW

    def bar(self, span: ReadableSpan, top: int, colour: str) -> Iterator[str]:
        start, end = nanoseconds(span)
        left, right = self.x(start), self.x(end)
        yield f'<rect x="{left:.1f}" y="{top + 2}" width="{right - left:.1f}" height="17" rx="3" fill="{colour}"/>'
        if span.events:
            yield f'<path class="event" d="M{right:.1f} {top + 5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z"/>'
        yield _text(right + 12, top + 15, f"{(end - start) / 1e3:.0f} µs", "small")


def _details(span: ReadableSpan) -> list[tuple[str, str]]:
    """The lines under a span, each with its style."""
    attributes = " ".join(f"{name}={value}" for name, value in attributes_of(span).items())
    events = [
        (f"◆ {count} x {event}, cupel.exclusion.reason={reason}", "says event")
        for (event, reason), count in event_counts(span).items()
    ]
    return [(attributes, "says"), *events] if attributes else events


def _text(x: float, y: float, text: str, style: str = "", *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{escape(text)}</text>'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(Picture(record(CupelVerbosity.STAGE_AND_EXCLUSIONS)).svg(), encoding="utf-8")
