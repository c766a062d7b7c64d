"""The package as a whole: what it exports, what it loads, what it says about itself."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.resources
import inspect
import json
import pkgutil
import shutil
import subprocess
import sys
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import pycupel
from pycupel.errors import MissingExtraError

# Type checkers do not see what the package makes at run time.
PACKAGE: Any = pycupel

HEAVY = {
    "argparse",
    "asyncio",
    "concurrent",
    "ctypes",
    "email",
    "http",
    "json",
    "logging",
    "multiprocessing",
    "pickle",
    "random",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "tempfile",
    "threading",
    "tomllib",
    "unittest",
    "urllib",
    "xml",
    "zoneinfo",
}

PUBLIC_MODULES = sorted(set(dir(pycupel)) - set(PACKAGE.__all__))

# What the public API promises today, by home.
API = {
    "pycupel": """
        ContextItem ContextBudget ContextKind ContextSource ScoredItem OverflowStrategy Pipeline Policy Ranking
        Selection select select_messages ExplainedResult
        RecencyScorer PriorityScorer KindScorer TagScorer FrequencyScorer ReflexiveScorer CompositeScorer ScaledScorer
        RelevanceScorer SimilarityScorer
        MetadataTrustScorer MetadataKeyScorer DecayScorer BoostedScorer
        GreedySlice KnapsackSlice StreamSlice QuotaSlice CountQuotaSlice CountConstrainedKnapsackSlice MinScoreSlice
        ChronologicalPlacer UShapedPlacer FramedPlacer ScarcityBehavior QuotaEntry CountQuotaEntry ContextResult
        Scorer Slicer Placer SelectionReport CupelError
        TraceCollector DiagnosticTraceCollector TraceDetailLevel
    """,
    "pycupel.scorers": """
        RelevanceScorer SimilarityScorer clear_caches rescale_hints Exponential Step Window SystemTimeProvider
    """,
    "pycupel.protocols": "Scorer Slicer Placer Shortener TimeProvider TokenCounter SliceOutcome",
    "pycupel.pipeline": "Pipeline Policy Ranking Selection merge_sources",
    "pycupel.diagnostics": """
        SelectionReport IncludedItem ExcludedItem InclusionReason
        BudgetExceeded ScoredTooLow Deduplicated QuotaCapExceeded QuotaRequireDisplaced NegativeTokens PinnedOverride
        Filtered CountCapExceeded CountRequireCandidatesExhausted
        TraceEvent PipelineStage OverflowEvent CountRequirementShortfall StageTraceSnapshot
    """,
    "pycupel.errors": """
        CupelError InvalidItemError InvalidBudgetError ScorerConfigError CycleError SlicerConfigError
        PipelineConfigError DocumentError PinnedExceedsBudgetError BudgetOverflowError TableTooLargeError
        CountRequirementError SlicerContractError PlacerContractError NonMonotonicSlicerError InvalidArgumentError
        MissingExtraError MessageShapeError ProviderAmbiguousError UnitTooLargeError
    """,
    "pycupel.analytics": """
        budget_utilization kind_diversity timestamp_coverage quota_utilization
        get_marginal_items find_min_budget_for sweep_budgets BudgetPoint
        policy_sensitivity PolicySensitivityReport PolicySensitivityDiffEntry ItemStatus
    """,
    "pycupel.messages": "select_messages MessageSelection lint_messages to_items",
    "pycupel.tokens": "estimate_tokens get_counter count_messages item",
    "pycupel.wire": "to_dict from_dict dumps loads read_items write_items",
    "pycupel.policies": """
        CHAT CODE_REVIEW RAG DOCUMENT_QA TOOL_USE LONG_RUNNING DEBUGGING preset PolicyRegistry
        load_policy policy_from_dict policy_to_dict policy_json_schema
    """,
    "pycupel.testing": """
        SelectionReportAssertionError FixedTimeProvider check_scorer check_slicer check_placer
    """,
    "pycupel.conformance": "run_suite",
}


def installed(module: str) -> bool:
    """Whether the packages are there that an integration needs; where they are, it has tests of its own."""
    try:
        importlib.import_module(module)
    except MissingExtraError:
        return False
    return True


MODULES = [
    "pycupel",
    *sorted(
        module.name
        for module in pkgutil.walk_packages(pycupel.__path__, "pycupel.")
        if not module.name.endswith("__main__") and installed(module.name)
    ),
]


def isolated(code: str) -> Any:
    """What a fresh interpreter prints as JSON. It imports json only after the code has run."""
    script = f"import sys\n{code}\nimport json\nprint(json.dumps(result))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


LOADED = "result = sorted(sys.modules)"
USE_EVERYTHING = "import pycupel\nfor name in pycupel.__all__: getattr(pycupel, name)\n"


def loaded_by(code: str) -> set[str]:
    """The modules that a bare interpreter has not loaded yet, without our own."""
    new = set(isolated(code + LOADED)) - set(isolated(LOADED))
    return {name for name in new if name.partition(".")[0] != "pycupel"}


# --- what importing costs


@pytest.mark.parametrize("code", ["import pycupel\n", USE_EVERYTHING], ids=["import", "use"])
def test_nothing_third_party_is_loaded(code: str) -> None:
    """`import pycupel` loads no third-party package; nor does using it."""
    tops = {name.partition(".")[0] for name in loaded_by(code)}
    assert tops
    assert tops <= sys.stdlib_module_names


@pytest.mark.parametrize("code", ["import pycupel\n", USE_EVERYTHING], ids=["import", "use"])
def test_nothing_heavy_is_loaded(code: str) -> None:
    """`import pycupel` loads no heavy module of the standard library; nor does using it."""
    tops = {name.partition(".")[0] for name in loaded_by(code)}
    assert not tops & HEAVY


def test_the_check_for_heavy_modules_would_notice_one() -> None:
    assert {"asyncio", "json"} <= {name.partition(".")[0] for name in loaded_by("import asyncio, json\n")}


def test_importing_the_package_loads_nothing_that_it_offers() -> None:
    own = isolated("import pycupel\nresult = sorted(name for name in sys.modules if name.startswith('pycupel'))")
    assert own == ["pycupel", "pycupel.lazy"]


def test_a_selection_needs_few_modules_and_dataclasses() -> None:
    """Issue: at most 45 modules and 15 dataclasses on the path of `from pycupel import select`."""
    own = isolated("from pycupel import select\nresult = sorted(name for name in sys.modules if 'pycupel' in name)")
    assert len(own) <= 45
    made = """
import dataclasses
result, process = [], dataclasses._process_class
def counted(kind, *options, **named):
    result.append(kind.__qualname__)
    return process(kind, *options, **named)
dataclasses._process_class = counted
from pycupel import select
"""
    found = isolated(made)
    assert "ContextItem" in found
    assert len(found) <= 15


def test_the_model_does_not_load_the_strategies() -> None:
    own = isolated("import pycupel\npycupel.ContextItem\n" + LOADED)
    assert "pycupel.model.item" in own
    assert not [name for name in own if name.startswith(("pycupel.scorers", "pycupel.slicers", "pycupel.pipeline"))]


# --- names


@pytest.mark.proves("S-AN-02")
@pytest.mark.parametrize("home", API)
def test_every_name_of_the_api_is_where_it_belongs(home: str) -> None:
    module = importlib.import_module(home)
    missing = [name for name in API[home].split() if not hasattr(module, name) or name not in module.__all__]
    assert missing == []


def test_everyday_names_are_the_very_objects_of_their_homes() -> None:
    homes = [importlib.import_module(f"pycupel.{home}") for home in (*PUBLIC_MODULES, "selecting")]
    exported = {name: getattr(home, name) for home in homes for name in getattr(home, "__all__", ())}
    for name in set(PACKAGE.__all__) - {"__version__"}:
        assert getattr(pycupel, name) is PACKAGE.__getattr__(name) is exported[name]


STUBS = sorted(Path(pycupel.__path__[0]).rglob("*.pyi"))


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_a_package_has_the_names_that_its_stub_imports(stub: Path) -> None:
    """Read here with Python's own parser."""
    package = importlib.import_module(".".join(stub.relative_to(Path(pycupel.__path__[0]).parent).parts[:-1]))
    names: dict[str, str] = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            assert all(alias.name == alias.asname for alias in node.names)
            names |= {alias.name: str(node.module) for alias in node.names}
    assert set(dir(package)) - {"__version__"} == set(names)
    assert set(package.__all__) - {"__version__"} == {name for name in names if names[name] != package.__name__}
    # Importing a module would put it in the place of a function of the same name.
    own = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert own.isdisjoint(package.__all__)
    for name, home in names.items():
        assert package.__getattr__(name) is getattr(importlib.import_module(home), name)


def test_there_are_stubs() -> None:
    assert len(STUBS) > 5
    assert {"analytics", "batch", "messages", "scorers", "wire"} <= set(PUBLIC_MODULES)


def test_a_package_in_an_archive_finds_its_stub(tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", Path(pycupel.__path__[0]).parent, "pycupel")
    code = (
        f"sys.path.insert(0, {archive!r})\nimport pycupel\nresult = [pycupel.__file__, pycupel.GreedySlice.__module__]"
    )
    file, home = isolated(code)
    assert file.startswith(archive)
    assert home == "pycupel.slicers.greedy"


def test_a_star_import_brings_exactly_the_exported_names() -> None:
    names = isolated("space = {}\nexec('from pycupel import *', space)\nresult = sorted(set(space) - {'__builtins__'})")
    assert names == sorted(PACKAGE.__all__)


def export_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions: the order that ruff keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_every_export_list_is_sorted_unique_and_true() -> None:
    for module in map(importlib.import_module, MODULES):
        exports = getattr(module, "__all__", [])
        assert list(exports) == sorted(set(exports), key=export_order), module
        assert [name for name in exports if not hasattr(module, name)] == [], module


def test_public_modules_are_loaded_when_they_are_used() -> None:
    for name in PUBLIC_MODULES:
        assert PACKAGE.__getattr__(name) is importlib.import_module(f"pycupel.{name}")


def test_public_modules_need_no_import_of_their_own() -> None:
    assert isolated("import pycupel\nresult = pycupel.conformance.run_suite.__module__") == "pycupel.conformance.check"


@pytest.mark.parametrize("home", ["", ".messages", ".policies", ".scorers", ".tokens", ".wire"])
def test_an_unknown_name_is_an_attribute_error(home: str) -> None:
    """Of every package that loads names when they are used."""
    package = importlib.import_module(f"pycupel{home}")
    with pytest.raises(AttributeError) as caught:
        package.nothing  # noqa: B018 - the access is the test
    assert str(caught.value) == f"module 'pycupel{home}' has no attribute 'nothing'"
    assert (caught.value.name, caught.value.obj) == ("nothing", package)


def test_a_misspelled_name_gets_a_suggestion() -> None:
    """Python suggests from `dir`, even before the name has been loaded."""
    script = "import pycupel; pycupel.ContextItm"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Did you mean: 'ContextItem'?" in done.stderr


def test_an_unknown_import_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="Nonsense"):
        exec("from pycupel import Nonsense")  # noqa: S102 - no checker accepts the statement


def test_a_name_is_looked_up_once() -> None:
    code = "import pycupel\nbefore = 'GreedySlice' in vars(pycupel)\npycupel.GreedySlice\n"
    assert isolated(code + "result = [before, 'GreedySlice' in vars(pycupel)]") == [False, True]


def test_dir_lists_the_public_names_and_modules_before_they_are_loaded() -> None:
    listed = isolated("import pycupel\nresult = dir(pycupel)")
    assert listed == sorted({*PACKAGE.__all__, *PUBLIC_MODULES})


@pytest.mark.parametrize("package", ["policies", "scorers", "slicers", "tokens"])
def test_dir_lists_the_names_of_a_package_before_they_are_loaded(package: str) -> None:
    assert isolated(f"from pycupel import {package}\nresult = dir({package}) == sorted({package}.__all__)")


# --- about itself


def test_the_version_is_the_distributions() -> None:
    assert pycupel.__version__ == importlib.metadata.version("pycupel")


@pytest.mark.proves("S-TV-03")
def test_the_distribution_needs_nothing() -> None:
    required = [r for r in importlib.metadata.requires("pycupel") or [] if "extra ==" not in r]
    assert required == []


def test_the_package_is_typed() -> None:
    assert importlib.resources.files("pycupel").joinpath("py.typed").is_file()


def test_every_module_says_what_it_is_for() -> None:
    assert [name for name in MODULES if not (importlib.import_module(name).__doc__ or "").strip()] == []


def enumerations() -> list[ast.ClassDef]:
    """Every enumeration in the source, except for their base; also where optional packages are not installed."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(Path(pycupel.__path__[0]).rglob("*.py"))]
    nodes = [node for text in texts if "NamedEnum" in text for node in ast.walk(ast.parse(text))]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    return [each for each in classes if any(ast.unparse(base).endswith("NamedEnum") for base in each.bases)]


def test_every_member_of_an_enumeration_says_what_it_means() -> None:
    """Editors show the string after a member."""
    documented: list[str] = []
    bare: list[str] = []
    for enumeration in enumerations():
        for member, after in pairwise([*enumeration.body, ast.Pass()]):
            if isinstance(member, ast.Assign):
                has_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and after.value.value
                (documented if has_text else bare).append(f"{enumeration.name}: {ast.unparse(member)}")
    assert bare == []
    assert len(documented) > 20


@pytest.mark.parametrize(
    "path",
    [
        (
            "model.ContextItem(content, tokens, *, kind, source, priority, tags, metadata, timestamp, "
            "future_relevance_hint, pinned, original_tokens)"
        ),
        (
            "model.ContextBudget(max_tokens, target_tokens, *, output_reserve, reserved_slots, "
            "estimation_safety_margin_percent)"
        ),
        "model.ContextKind(value)",
        "model.ContextSource(value)",
        "model.ScoredItem(item, score)",
        "model.QuotaEntry(kind, require, cap)",
        "model.CountQuotaEntry(kind, *, cap_count, require_count)",
        (
            "diagnostics.SelectionReport(events, included, excluded, total_candidates, total_tokens_considered, "
            "count_requirement_shortfalls, budget, notes)"
        ),
        "diagnostics.IncludedItem(item, score, reason)",
        "diagnostics.ExcludedItem(item, score, reason)",
        "diagnostics.TraceEvent(stage, duration_ms, item_count, message)",
        "diagnostics.OverflowEvent(tokens_over_budget, overflowing_items, budget)",
        "diagnostics.StageTraceSnapshot(stage, item_count_in, item_count_out, duration_ms, excluded)",
        "diagnostics.CountRequirementShortfall(kind, required_count, satisfied_count, by)",
        "conformance.run_suite(directory, *, suite)",
        (
            "pipeline.Pipeline(scorer, slicer, placer, *, deduplication, overflow_strategy, dedupe_against_pinned, "
            "shorten, name, description, models, on_overflow)"
        ),
        (
            "pipeline.Policy(scorer, slicer, placer, *, deduplication, overflow_strategy, dedupe_against_pinned, "
            "shorten, name, description, models)"
        ),
        "pipeline.Pipeline.run(self, items, budget, *, query, collector)",
        "pipeline.Pipeline.dry_run(self, items, budget, *, query)",
        "pipeline.Pipeline.dry_run_with_policy(self, items, budget, policy, *, query)",
        "pipeline.Pipeline.from_policy(policy)",
        "selecting.select(items, budget, policy, *, query, model, counter, shorten, explain, collector)",
        "selecting.aselect(items, budget, policy, *, query, model, counter, shorten, explain, collector)",
        "selecting.ContextResult(items, notes, report, shortened)",
        "slicers.StreamSlice(batch_size, *, replace)",
        "slicers.KnapsackSlice(bucket_size, max_cells, max_states, fill_free)",
        "slicers.GreedySlice(cost_exponent, best_first)",
        "slicers.MinScoreSlice(inner, min_score)",
        "placers.FramedPlacer(inner, first, last, *, last_inner)",
        "placers.ChronologicalPlacer(undated)",
        "scorers.RelevanceScorer(query, *, k1, b, window, share, group, group_share, length_exponent, optional)",
        "scorers.SimilarityScorer(embed, query, *, vectors, cache)",
        "scorers.ReflexiveScorer(rescale, by)",
        "scorers.FusedScorer(by, k)",
        "scorers.rescale_hints(items, by, *, lower_is_better)",
        "scorers.RecencyScorer(undated)",
        "scorers.DecayScorer(time_provider, curve, null_timestamp_score)",
        "policies.preset(name, *, upstream)",
        "policies.load_policy(path)",
        "policies.policy_from_dict(data)",
        "policies.policy_to_dict(policy)",
        "policies.policy_json_schema()",
        "analytics.quota_utilization(report, policy, budget)",
        "analytics.policy_sensitivity(items, budget, variants, *, query)",
    ],
)
def test_the_parameters_are_those_of_the_api(path: str) -> None:
    target, _, expected = path.removesuffix(")").partition("(")
    module, _, name = target.partition(".")
    parameters = inspect.signature(attrgetter(name)(importlib.import_module(f"pycupel.{module}"))).parameters.values()
    before = [p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    after = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    assert ", ".join([*before, *(["*"] if after else []), *after]) == expected
