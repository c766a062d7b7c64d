"""Real vocabularies for tiktoken, from the packages that bring them along: two libraries count the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from pycupel.tokens import families, tiktoken
from tests.tokens.offline import forbid_downloads, hide_vocabularies

SCRIPTS = (
    "敏捷的棕色狐狸跳过了懒狗。",
    "いろはにほへと ちりぬるを",
    "다람쥐 헌 쳇바퀴에 타고파",
    "Быстрая лиса прыгает через ленивую собаку.",
    "نص حكيم له سر قاطع",
    "ऋषियों को सताने वाले दुष्ट राक्षसों",
    "Zażółć gęślą jaźń. Größe, été, ñandú",
    "🙂👩‍👩‍👧‍👦🇩🇪👍🏽 ✅➡️ ☃",
    "e\u0301 a\u0308 \u200b\u200d\ufeff\u202e \u00a0\u3000",
)
SPECIAL = ("<|endoftext|>", "<|im_start|>user<|im_end|>", "a<|endofprompt|>b")
CONTROL = (
    "".join(map(chr, range(0x20))),
    "".join(map(chr, range(0x7F, 0xA1))),
    "\r\n\r\n\n\t \r",
    "\x00" * 50,
    "half \ud83d an emoji",
)


def texts() -> Iterator[str]:
    """Some hundred, of the kinds that agents send."""
    random = Random(7)
    yield from (
        "",
        " ",
        "\n",
        "  \n  ",
        "a",
        "Hello, world!",
        "don't I'LL we've",
        "0123456789" * 9,
        "x" * 500,
        "=" * 300,
    )
    yield from SCRIPTS + SPECIAL + CONTROL
    for path in sorted(Path(os.__file__).parent.glob("*.py"))[:60]:
        source = path.read_text(encoding="utf-8")
        for _ in range(4):
            start = random.randrange(len(source) + 1)
            yield source[start : start + random.randrange(1, 3000)]
    for size in range(1, 40):
        rows = [{"id": random.getrandbits(64), "name": random.choice(SCRIPTS), "score": random.random()}] * size
        yield json.dumps(rows)
        yield json.dumps(rows, ensure_ascii=False, indent=2)
        yield random.randbytes(8 * size).hex()
        yield "".join(random.choice(random.choice(SCRIPTS)) for _ in range(5 * size))
        yield "".join(
            chr(random.choice((random.randrange(0xD800), random.randrange(0xE000, 0x110000)))) for _ in range(size)
        )


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_both_libraries_count_the_same(encoding: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The vocabulary is found without any variable, and without a network."""
    hide_vocabularies(monkeypatch, tmp_path)
    forbid_downloads(monkeypatch)
    ours, _ = families.load_splintr(encoding)
    theirs, _ = tiktoken.load_tiktoken(encoding)
    many = list(texts())
    assert len(many) > 400
    assert [text for text in many if ours(text) != theirs(text)] == []


def test_the_packages_are_not_imported_for_it(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["splintr"] = None
from pycupel.tokens import get_counter
print(get_counter(), get_counter()("Hello, world!"), "litellm" in sys.modules, "llama_index.core" in sys.modules)
"""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_CACHE_DIR")}
    places = {name: str(tmp_path) for name in ("TMPDIR", "TEMP", "TMP")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | places, capture_output=True, text=True, check=True
    )
    assert done.stdout == "o200k_base (tiktoken 0.14.0) 4 False False\n"
    assert list(tmp_path.iterdir()) == []
