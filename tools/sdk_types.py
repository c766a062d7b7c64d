"""`python -m tools.sdk_types`: which types of parts and items the providers' SDKs have, and which are new to us.

pip downloads the newest wheels into a temporary directory, one at a time; nothing of them is installed or run. Their
source is parsed: from the type of a request's messages, the unions and classes are followed down to the literals of
each `type`, or to the names of the fields where parts have none. The facts are written to
`tests/messages/sdk_types.json`, with the versions and the date; a test compares them with the tables. What the tables
lack is printed.
"""

from __future__ import annotations

import ast
import gzip
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zipfile import ZipFile

from pycupel.messages.providers._tables import ITEM_TYPES, PART_TYPES, STEP_TYPES, known_fields

FACTS = Path(__file__).parents[1] / "tests/messages/sdk_types.json"

# The fields that parts are inside of. Tools, citations and errors are not content.
INSIDE = ("content", "output", "outputs", "summary", "thinking", "results", "result", "tool")


class Root(NamedTuple):
    """Where an SDK has the types of what a history holds."""

    list: str
    """The name of the list of facts."""

    wheel: str
    module: str
    """The module, without its suffix."""

    name: str
    """The union or class in it."""

    fields: bool = False
    """Whether its parts have no type, so that the names of the fields tell."""


ROOTS = (
    Root("responses items", "openai", "openai/types/responses/response_input_item_param", "ResponseInputItemParam"),
    Root(
        "responses items",
        "openai",
        "openai/types/beta/beta_response_input_item_param",
        "BetaResponseInputItemParam",
    ),
    Root("openai parts", "openai", "openai/types/chat/chat_completion_message_param", "ChatCompletionMessageParam"),
    Root("anthropic parts", "anthropic", "anthropic/types/beta/beta_message_param", "BetaMessageParam"),
    Root("anthropic parts", "anthropic", "anthropic/types/message_param", "MessageParam"),
    Root("gemini fields", "google-genai", "google/genai/types", "PartDict", fields=True),
    Root("interactions items", "google-genai", "google/genai/_gaos/types/interactions/step", "StepParam"),
    Root(
        "mistral parts",
        "mistralai",
        "mistralai/client/models/chatcompletionrequest",
        "ChatCompletionRequestMessageTypedDict",
    ),
)
CONVERSE = ("ContentBlock", "ToolResultContentBlock", "SystemContentBlock")


def main() -> None:
    """Download, write the facts, and print what is new."""
    facts: dict[str, Any] = {"date": datetime.now(UTC).date().isoformat(), "versions": {}}
    for wheel in (*dict.fromkeys(root.wheel for root in ROOTS), "botocore"):
        with TemporaryDirectory() as folder:
            archive = downloaded(wheel, Path(folder))
            facts["versions"][wheel] = archive.name.split("-")[1]
            with ZipFile(archive) as files:
                for name, types in listed(wheel, files):
                    facts[name] = sorted({*facts.get(name, ()), *types})
    FACTS.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(*missing(facts) or ["nothing is new"], sep="\n")  # noqa: T201


def downloaded(name: str, folder: Path) -> Path:
    """Download the newest wheel."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"]
    subprocess.run([*pip, str(folder), name], check=True)  # noqa: S603 - this very interpreter
    (wheel,) = folder.glob("*.whl")
    return wheel


def missing(facts: dict[str, Any]) -> list[str]:
    """Return what the SDKs have and the tables do not: the list of facts, and the type."""
    lines: list[str] = []
    for name, types in facts.items():
        provider, _, what = name.partition(" ")
        items = STEP_TYPES if provider == "interactions" else {"message", *ITEM_TYPES}
        known = known_fields() if what == "fields" else items if what == "items" else PART_TYPES
        lines += [f"{name}: {each}" for each in types if what and each not in known]
    return lines


def listed(wheel: str, files: ZipFile) -> Iterator[tuple[str, Iterable[str]]]:
    """Return the lists of a wheel, each with its name."""
    if wheel == "botocore":
        (path,) = [name for name in files.namelist() if "/bedrock-runtime/" in name and "service-2.json" in name]
        data = files.read(path)
        shapes = json.loads(gzip.decompress(data) if path.endswith(".gz") else data)["shapes"]
        yield "converse fields", {field for shape in CONVERSE for field in shapes[shape]["members"]}
        return
    modules = Modules(files)
    for root in ROOTS:
        if root.wheel == wheel:
            yield from modules.listed(root)


class Modules:
    """The source of a wheel, parsed as far as it is needed."""

    def __init__(self, files: ZipFile) -> None:
        self._files = files
        self._names = {*files.namelist()}
        self._parsed: dict[str, dict[str, ast.AST]] = {}

    def listed(self, root: Root) -> Iterator[tuple[str, Iterable[str]]]:
        """Return the types at the root, and those of the parts inside."""
        classes = [*self._classes(root.module, ast.Name(root.name))]
        if root.fields:
            yield root.list, {name for _, each in classes for name in _fields(each)}
            return
        if root.list.endswith("items"):
            yield root.list, {kind for _, each in classes for kind in _kinds(each)}
        found = dict.fromkeys(classes)
        waiting = list(found)
        parts: set[str] = set()
        for module, each in waiting:
            for name, annotation in _fields(each).items():
                for inner in self._classes(module, annotation) if name in INSIDE else ():
                    parts.update(_kinds(inner[1]))
                    if inner not in found:
                        found[inner] = None
                        waiting.append(inner)
        yield f"{root.list.split()[0]} parts", parts

    def _classes(self, module: str, node: ast.AST) -> Iterator[tuple[str, ast.ClassDef]]:
        """Return the classes that an annotation names, through aliases, unions and lists."""
        for each in ast.walk(node):
            name = each.id if isinstance(each, ast.Name) else getattr(each, "value", None)
            if not isinstance(name, str) or not name.isidentifier():
                continue
            where, found = self._find(module, name)
            if isinstance(found, ast.ClassDef):
                yield where, found
            elif found is not None:
                yield from self._classes(where, found)

    def _find(self, module: str, name: str) -> tuple[str, ast.AST | None]:
        found = self._module(module).get(name)
        if not isinstance(found, ast.ImportFrom):
            return module, found
        folder = PurePosixPath(module).parents[found.level - 1] if found.level else PurePosixPath()
        where = str(folder.joinpath(*(found.module or "").split(".")))
        original = next(each.name for each in found.names if name in (each.asname, each.name))
        return self._find(where, original) if f"{where}.py" in self._names else (where, None)

    def _module(self, module: str) -> dict[str, ast.AST]:
        if module not in self._parsed:
            defined: dict[str, ast.AST] = {}
            for node in ast.walk(ast.parse(self._files.read(f"{module}.py"))):
                if isinstance(node, ast.ClassDef):
                    defined[node.name] = node
                elif isinstance(node, ast.ImportFrom):
                    defined.update({each.asname or each.name: node for each in node.names})
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                    defined.setdefault(node.target.id, node.value)
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    defined.setdefault(node.targets[0].id, _aliased(node.value))
            self._parsed[module] = defined
        return self._parsed[module]


def _aliased(value: ast.expr) -> ast.expr:
    """Return the union of `TypeAliasType("Name", Union[...])`, whose own name would be found again and again."""
    is_alias = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "TypeAliasType"
    return value.args[1] if is_alias else value  # type: ignore[attr-defined]


def _fields(node: ast.ClassDef) -> dict[str, ast.expr]:
    each = [field for field in node.body if isinstance(field, ast.AnnAssign)]
    return {field.target.id: field.annotation for field in each if isinstance(field.target, ast.Name)}


def _kinds(node: ast.ClassDef) -> list[str]:
    """Return the literals of the class's `type`."""
    annotation = _fields(node).get("type")
    literals = [] if annotation is None else [each for each in ast.walk(annotation) if isinstance(each, ast.Constant)]
    return [each.value for each in literals if isinstance(each.value, str)]


if __name__ == "__main__":
    main()
