"""Every built-in strategy passes the checks that authors of plug-ins have."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel import (
    CountConstrainedKnapsackSlice,
    CountQuotaEntry,
    CountQuotaSlice,
    KnapsackSlice,
    QuotaEntry,
    QuotaSlice,
    ScarcityBehavior,
)
from pycupel.slicers._base import quota_constraints_of
from pycupel.testing._contract import check_placer, check_scorer, check_slicer
from tests.samples import PLACERS, SCORERS, SLICERS
from tests.testing.test_checks import REQUIREMENTS

QUOTAS = [QuotaEntry("document", 20.0, 33.3), QuotaEntry("Memory", cap=12.5)]
CAPS = [CountQuotaEntry("Note", cap_count=2), CountQuotaEntry("absent", cap_count=0)]
REQUIRING = [slicer for slicer in SLICERS if any(c.require for c in quota_constraints_of(slicer) if c.mode == "Count")]
NOT_REQUIRING = [
    *(slicer for slicer in SLICERS if slicer not in REQUIRING),
    CountQuotaSlice(CAPS),
    CountQuotaSlice(CAPS, QuotaSlice(QUOTAS), cap_order="score"),
    CountConstrainedKnapsackSlice(CAPS, KnapsackSlice(1)),
]


@pytest.mark.proves("S-SR-01")
@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: type(scorer).__name__)
def test_built_in_scorers_pass(scorer: Any) -> None:
    """Scorers: the interface contract."""
    check_scorer(scorer)


@pytest.mark.proves("S-SC-S1", "S-SC-S2", "S-SC-S3", "S-SC-S4", "S-GR-10")
@pytest.mark.parametrize("slicer", NOT_REQUIRING, ids=lambda slicer: type(slicer).__name__)
def test_built_in_slicers_pass(slicer: Any) -> None:
    """Slicers: the interface contract; without requirements none exceeds the target (PL-02)."""
    check_slicer(slicer)


@pytest.mark.parametrize(
    "slicer",
    [
        *REQUIRING,
        CountQuotaSlice(REQUIREMENTS, scarcity=ScarcityBehavior.THROW),
        QuotaSlice(QUOTAS, CountQuotaSlice(REQUIREMENTS)),
    ],
    ids=lambda slicer: type(slicer).__name__,
)
def test_slicers_with_requirements_pass_if_they_may_overflow(slicer: Any) -> None:
    """CQ-06: requirements come before the budget; and with THROW, a refusal is an answer, too (CQ-08)."""
    check_slicer(slicer, may_overflow=True)


@pytest.mark.proves("S-PC-01", "S-PC-02")
@pytest.mark.parametrize("placer", PLACERS, ids=lambda placer: type(placer).__name__)
def test_built_in_placers_pass(placer: Any) -> None:
    """Placers: the interface contract."""
    check_placer(placer)
