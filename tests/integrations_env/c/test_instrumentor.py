"""OpenTelemetry's agent finds the instrumentor, as it loads it for a program that is not changed."""

from __future__ import annotations

from importlib.metadata import entry_points

from opentelemetry.instrumentation.distro import DefaultDistro

from pycupel.diagnostics.collector import collector_factories
from pycupel.integrations.otel import CupelInstrumentor


def test_the_agent_loads_it() -> None:
    [found] = entry_points(group="opentelemetry_instrumentor", name="cupel")
    try:
        DefaultDistro().load_instrumentor(found, skip_dep_check=True)
        assert len(collector_factories) == 1
    finally:
        CupelInstrumentor().uninstrument()
