"""Build the documentation site: `python -m tools.site [--serve]`, in the environment that `make docs` sets up.

The pages are those of `docs/`, the README as the first page, the project's own files (the changelog and the like), and
pages that are generated here: one for each verb of the command line, one for each public module. What is generated is
not committed, so that it cannot become stale. Then zensical builds the site, which fails for any warning, and every
link and anchor in it is followed.
"""

from __future__ import annotations

import ast
import enum
import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import pycupel
from pycupel.cli import GROUPS
from pycupel.diagnostics import ExclusionReason

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
CONFIGURATION = ROOT / "build" / "mkdocs.yml"
REPOSITORY = "https://github.com/pycupel/pycupel/blob/main/"
# Files of the project that are pages of the site, too.
FILES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
}
# What users are given rather than make, and types for annotations: these have a page, and need no example.
GIVEN = """
    BatchSummary BudgetPoint Call CollectorLike Compaction ContextResult ContextUsage Counter
    CountRequirementShortfall Cut Dropped ExcludedItem ExplainedResult ExplainedSelection Explanation Finding Growth
    History IncludedItem ItemDifference KindQuotaUtilization Log ModelLimits OverflowEvent Part PolicyReplay
    PolicySensitivityDiffEntry PolicySensitivityReport QuotaConstraint Ranking Redundant Registry ScorePart ScoredItem
    Selection SelectionReportAssertionChain ShortenedMessage SliceOutcome StageTraceSnapshot SuiteResult
    TraceCollector TraceEvent Usage VectorResult WindowShare
"""
# The page that explains a module: names without an example link to it, such as errors, reasons and enumerations.
GUIDES = {
    "analytics": "what-if.md",
    "batch": "many-requests.md",
    "conformance": "vectors.md",
    "diagnostics": "reasons.md",
    "errors": "errors.md",
    "messages": "chat-histories.md",
    "policies": "policies.md",
    "protocols": "plugins.md",
    "registry": "policy-files.md",
    "render": "look-at-it.md",
    "replay": "where-does-my-window-go.md",
    "shorten": "shortening.md",
    "testing": "testing.md",
    "tokens": "tokens.md",
    "wire": "wire.md",
}
BLOCK = re.compile(r"^```(?:python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)


# --- pages that are there


def copy_pages() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    for page in PAGES.rglob("*.md"):
        page.write_text(with_links(page.read_text(encoding="utf-8"), ROOT / "docs" / page.relative_to(PAGES), page))
    for name, target in FILES.items():
        page = PAGES / target
        page.write_text(with_links((ROOT / name).read_text(encoding="utf-8"), ROOT / name, page), encoding="utf-8")


def with_links(text: str, source: Path, page: Path) -> str:
    """Let the relative links of a file lead to pages of the site, or, where there is none, to the repository."""

    def link(match: re.Match[str]) -> str:
        before, after = match[1], match[3]
        path, anchor, fragment = match[2].partition("#")
        if not path or ":" in path:
            return match[0]
        target = (source.parent / path).resolve().relative_to(ROOT)
        if target.parts[0] == "docs":
            inside = PAGES / target.relative_to("docs")
        elif str(target) in FILES:
            inside = PAGES / FILES[str(target)]
        else:
            return f"{before}{REPOSITORY}{target.as_posix()}{anchor}{fragment}{after}"
        return f"{before}{Path(os.path.relpath(inside, page.parent)).as_posix()}{anchor}{fragment}{after}"

    return re.sub(r'(\b(?:src|srcset)=")([^"\s]+)(")', link, re.sub(r"(\]\()([^)\s]+)(\))", link, text))


# --- pages about verbs


def write_verbs() -> list[str]:
    """Write a page for each verb, with its help as it is printed."""
    folder = PAGES / "reference" / "verbs"
    folder.mkdir(parents=True)
    for verb, summary in verbs():
        command = [sys.executable, "-m", "pycupel", verb, "--help"]
        environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
        help_text = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout  # noqa: S603
        text = f"# pycupel {verb}\n\n{summary[0].upper()}{summary[1:]}.\n\n```text\n{help_text}```\n\n"
        (folder / f"{verb}.md").write_text(
            text + "[All verbs, with examples](../../command-line.md)\n", encoding="utf-8"
        )
    return [f"reference/verbs/{verb}.md" for verb, _ in verbs()]


def verbs() -> Iterator[tuple[str, str]]:
    for group in GROUPS.values():
        yield from group.items()


# --- pages about modules


class Example(NamedTuple):
    page: Path
    heading: str
    code: str


def examples() -> dict[str, Example]:
    """For each name, the first block of a guide that uses it. All of them are run by the tests."""
    found: dict[str, Example] = {}
    # The pages for everybody first, and last the one that has what no other page shows.
    order = ["README.md", "getting-started.md", "chat-histories.md", "strategies.md"]
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    for page in sorted(pages, key=lambda page: (page.name == "api-examples.md", page.name not in order, page)):
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            heading = [match[2] for match in HEADING.finditer(BLOCK.sub("", text[: block.start()]))][-1]
            for node in ast.walk(ast.parse(block[1])):
                if isinstance(node, ast.Name | ast.Attribute | ast.alias):
                    name = getattr(node, "id", "") or getattr(node, "attr", "") or getattr(node, "name", "")
                    found.setdefault(name, Example(page, heading, block[1]))
    return found


def public_modules() -> list[tuple[str, ModuleType]]:
    own = [(name, getattr(pycupel, name)) for name in dir(pycupel) if isinstance(getattr(pycupel, name), ModuleType)]
    return [("pycupel", pycupel), *((f"pycupel.{name}", module) for name, module in own)]


def write_modules() -> list[str]:
    """Write a page for each public module: what it has, each with its documentation and an example of its use."""
    folder = PAGES / "reference" / "api"
    folder.mkdir(parents=True)
    known, missing = examples(), list[str]()
    for path, module in public_modules():
        summary, _, rest = inspect.cleandoc(module.__doc__ or "").partition("\n")
        parts = [f"# {path}\n\n{summary}\n{rest}\n"]
        for name in exports(module):
            value = getattr(module, name)
            parts.append(f"::: {path}.{name}\n")
            example = known.get(name)
            if example:
                target = os.path.relpath(example.page, ROOT / "docs" / "reference" / "api")
                link = with_links(
                    f"[{example.heading}]({target})", ROOT / "docs" / "reference" / "api" / "x.md", folder / "x.md"
                )
                parts.append(f"Used in {link}:\n\n```python\n{example.code}```\n")
                continue
            guide = GUIDES.get(path.rpartition(".")[2], "getting-started.md")
            parts.append(f"Explained in [{title_of(PAGES / guide)}](../../{guide}).\n")
            if name not in GIVEN.split() and is_built_by_users(value):
                missing.append(f"{path}.{name}")
        (folder / f"{path}.md").write_text("\n".join(parts), encoding="utf-8")
    if missing:
        sys.exit(f"no page has an example of: {', '.join(missing)}")
    return [f"reference/api/{path}.md" for path, _ in public_modules()]


def title_of(page: Path) -> str:
    title = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return title[1] if title else page.stem


def exports(module: Any) -> list[str]:
    """Functions first, then what they take and return."""
    names = [name for name in module.__all__ if not name.startswith("_")]
    return sorted(names, key=lambda name: not inspect.isfunction(getattr(module, name)))


def is_built_by_users(value: object) -> bool:
    """Whether users call it: functions, and classes other than errors, reasons, enumerations and protocols."""
    if inspect.isclass(value):
        given = BaseException | enum.Enum | ExclusionReason
        return not issubclass(value, given) and not getattr(value, "_is_protocol", False)
    return inspect.isfunction(value)


# --- for language models


def write_llms(pages: list[Path]) -> None:
    """Write `llms.txt`, a list of the pages, and `llms-full.txt`, all of them in one file."""
    lines = [
        "# pycupel\n",
        "> Select and order the best context for a language model under a token budget.\n",
        "## Pages\n",
    ]
    whole: list[str] = []
    for page in pages:
        lines.append(f"- [{title_of(page)}]({page.relative_to(PAGES).with_suffix('').as_posix()}/)")
        whole.append(page.read_text(encoding="utf-8"))
    (PAGES / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (PAGES / "llms-full.txt").write_text("\n\n".join(whole), encoding="utf-8")


# --- the site


def write_configuration(generated: dict[str, list[str]]) -> None:
    """Put the generated pages into the navigation."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for folder, pages in generated.items():
        entries = "".join(f"\n          - {Path(page).stem}: {page}" for page in pages)
        text = text.replace(f" [{folder}]", entries)
    for key, path in (("docs_dir", "pages"), ("site_dir", "site")):
        text = text.replace(f"{key}: build/{path}", f"{key}: {path}")
    CONFIGURATION.write_text(text.replace("paths: [src]", "paths: [../src]"), encoding="utf-8")


class Page(HTMLParser):
    """The anchors of a page, and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif name in {"href", "src"} and value and not urlsplit(value).scheme and not value.startswith("//"):
                self.links.append(value)


def check_links() -> list[str]:
    """Follow every link inside the site."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in SITE.rglob("*.html") if path.name != "404.html"}
    broken: list[str] = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            wrong = not target.exists() or (
                parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors
            )
            if wrong:
                broken.append(f"{path.relative_to(SITE)}: {link}")
    return sorted(set(broken))


def zensical(*arguments: str) -> int:
    command = [str(Path(sys.executable).with_name("zensical")), *arguments, "--config-file", str(CONFIGURATION)]
    return subprocess.run(command, check=False).returncode  # noqa: S603 - ours


def main() -> None:
    copy_pages()
    generated = {"reference/verbs/": write_verbs(), "reference/api/": write_modules()}
    write_configuration(generated)
    write_llms([path for path in sorted(PAGES.rglob("*.md")) if "reference" not in path.parts])
    if "--serve" in sys.argv[1:]:
        sys.exit(zensical("serve"))
    if zensical("build", "--strict", "--clean"):
        sys.exit("the site has warnings")
    broken = check_links()
    if broken:
        sys.exit("links that lead nowhere:\n" + "\n".join(broken))
    print(f"{sum(1 for _ in SITE.rglob('*.html'))} pages in {SITE.relative_to(ROOT)}")  # noqa: T201 - a tool


if __name__ == "__main__":
    main()
