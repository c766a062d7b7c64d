"""Broken documents: texts of the corpus, changed as text or in their structure."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from pycupel.text import shortened
from tests.hostile import Raising, nested

__all__ = ["HOSTILE", "NASTY", "Drawn", "changed_texts", "changed_values", "corpus"]

_CORPUS = Path(__file__).parent / "corpus"

TOKENS = (
    *(
        "",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        ",",
        ":",
        ".",
        "=",
        "\n",
        "\t",
        "#",
        "\\",
        "\\u0000",
        "\\ud83d",
        "null",
        "true",
    ),
    *("NaN", "Infinity", "-1", "0", "1e999", "9" * 25, "9" * 5_000, "[" * 70, "{" * 70, '{"a":' * 70, "\x00", "\ufeff"),
    *(
        "é",
        "\U0001f600",
        "\u2028",
        "&a ",
        "*a",
        "<<: *a",
        "- ",
        "? ",
        "---\n",
        "!!python/name:os.system ",
        "a.b.c",
        '"""',
        "'''",
    ),
    *("2026-01-01", "inf", "nan", "\r\n", "x" * 300, '"x": 1, ', '"tokens": -5', '"type": ["x"]'),
)
"""What texts are broken with."""

NASTY: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**63, 10**400, -0.0, 0.5, 1e308, float("nan"), float("inf"), "", " ", "x", "\x00"),
    *("\ud83d", "é\n\x1b[31m", "recency", "user", "assistant", "tool", "call_1", "text", "x" * 300, [], {}, [[]], [{}]),
    *([None], {"": None}, {"type": ["x"]}, {"a": {"a": {"a": []}}}, [1, "a", None], {"role": "user", "content": "x"}),
)
"""What values are broken with: anything that JSON can hold, and Python makes of it."""


class Drawn:
    """A document that can be shown, whatever is in it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Drawn({_shown(self.value, 12)})"


def _shown(value: Any, levels: int) -> str:
    if not levels:
        return "..."
    if type(value) is dict:
        return f"{{{', '.join(f'{key!r}: {_shown(member, levels - 1)}' for key, member in value.items())}}}"
    if type(value) is list:
        return f"[{', '.join(_shown(member, levels - 1) for member in value)}]"
    return shortened(value)


def _cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


HOSTILE = (
    Raising(),
    Raising,
    object(),
    b"bytes",
    (1, 2),
    {1: 2},
    {(): "x"},
    _cyclic(),
    nested(5_000),
    10**5000,
    ...,
    set[int](),
)
"""What only Python can hold."""


def corpus(*names: str) -> list[str]:
    """The texts of some directories of the corpus."""
    return [file.read_text(encoding="utf-8") for name in names for file in sorted((_CORPUS / name).iterdir())]


_SPOTS = st.integers(0, 10_000)


@st.composite
def changed_texts(draw: st.DrawFn, *names: str) -> str:
    """Draw a text of the corpus, changed in a few spots."""
    texts = corpus(*names)
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(_SPOTS) % (len(text) + 1)
        end = min(len(text), start + draw(st.sampled_from((0, 1, 2, 5, 20, 200))))
        other = draw(st.sampled_from(("token", "repeat", "other", "random")))
        if other == "token":
            middle = draw(st.sampled_from(TOKENS))
        elif other == "repeat":
            middle = text[start:end] * draw(st.sampled_from((2, 3, 50)))
        elif other == "other":
            source = draw(st.sampled_from(texts))
            begin = draw(_SPOTS) % (len(source) + 1)
            middle = source[begin : begin + draw(st.sampled_from((5, 50, 500)))]
        else:
            middle = draw(st.text(max_size=4))
        text = text[:start] + middle + text[end:]
    return text[:100_000]


@st.composite
def changed_values(draw: st.DrawFn, *names: str, nasty: tuple[Any, ...] = NASTY) -> Drawn:
    """Draw a JSON document of the corpus, with a few of its values replaced, removed, repeated or moved."""
    root = [json.loads(draw(st.sampled_from(corpus(*names))))]
    for _ in range(draw(st.integers(0, 5))):
        spots = _spots(root)
        holder, key = spots[draw(_SPOTS) % len(spots)]
        action = draw(st.sampled_from(("replace", "replace", "remove", "repeat", "move", "add")))
        if action == "replace" or holder is root:
            holder[key] = _one_of(draw, nasty)
        elif action == "remove":
            del holder[key]
        elif action == "repeat" and isinstance(holder, list):
            holder.insert(key, holder[key] if id(holder[key]) in _KEPT else copy.copy(holder[key]))
        elif action == "add" and isinstance(holder, dict):
            holder[draw(st.sampled_from(("type", "role", "content", "id", "name", "")))] = _one_of(draw, nasty)
        else:
            source, other = spots[draw(_SPOTS) % len(spots)]
            holder[key] = _copied(source[other])
    return Drawn(root[0])


def _copied(value: Any) -> Any:
    """A copy, so that nothing contains itself by it; None of what is no JSON."""
    try:
        return json.loads(json.dumps(value))
    except Exception:  # noqa: BLE001 - whatever it raises
        return None


def _one_of(draw: st.DrawFn, values: tuple[Any, ...]) -> Any:
    """One of the values; a copy, if it can be changed later."""
    value = values[draw(st.integers(0, len(values) - 1))]
    return value if id(value) in _KEPT else copy.deepcopy(value)


_KEPT = set(map(id, HOSTILE))


def _spots(root: list[Any]) -> list[tuple[Any, Any]]:
    """Every value of a document, as its holder and its key or index."""
    found: list[tuple[Any, Any]] = []
    stack: list[Any] = [root]
    seen: set[int] = set()
    while stack and len(found) < 2_000:
        holder = stack.pop()
        if id(holder) in seen or id(holder) in _KEPT:
            continue
        seen.add(id(holder))
        members = list(holder.items() if type(holder) is dict else enumerate(holder))
        found += [(holder, key) for key, _ in members]
        stack += [value for _, value in members if type(value) in {dict, list}]
    return found
