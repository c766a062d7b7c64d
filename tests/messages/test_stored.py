"""Selections that were stored, and damaged or made up since: refused, or ignored, so that no result changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest

from pycupel import wire
from pycupel.errors import DocumentError
from pycupel.messages import MessageSelection, Summarize, clear_caches
from pycupel.messages.memory import Memory, Point
from pycupel.messages.overlay import ResultText
from pycupel.messages.wire import _checksum  # pyright: ignore[reportPrivateUsage]
from tests.messages.chats import Message, answer, errors, exchange, question, select, small_talk, system
from tests.messages.test_cuts import IGNORED, assert_same

LINES = "\n".join(f"line {n}: the quick brown fox jumps over the lazy dog" for n in range(40))


def work(size: int) -> list[Message]:
    """An agent that reads files, with a question now and then."""
    history = [system()]
    for n in range(size):
        history += [question(f"question {n}"), *exchange(f"call{n:04d}", f"{n} {LINES}"), answer(f"answer {n}")]
    return [*history, question("The last question.")]


CASES: dict[str, tuple[list[Message], int, dict[str, Any]]] = {
    "talk": (small_talk(60), 600, {}),
    "shortened": (work(12), 9_000, {"shorten": "results"}),
    "turns": (work(12), 9_000, {"unit": "turn"}),
    "summary": (small_talk(60), 900, {"summarize": Summarize(lambda _gone, last: f"{last or ''}s", tokens=200)}),
}


@cache
def stored(case: str) -> str:
    """The selection before the last question, as JSON."""
    history, budget, options = CASES[case]
    return wire.dumps(select(history[:-2], budget, **options))


def document(case: str) -> dict[str, Any]:
    """The same as a dict of its own."""
    found: dict[str, Any] = json.loads(stored(case))
    return found


def chosen_after(case: str, previous: MessageSelection | None) -> MessageSelection:
    """The whole history, with nothing but the previous selection to begin from."""
    history, budget, options = CASES[case]
    clear_caches()
    return select(history, budget, previous=previous, **options)


def test_what_is_stored_has_what_the_tests_damage() -> None:
    for case in CASES:
        points = document(case)["points"]
        assert len(points) == 2
        assert points[0]["gone"]
    assert any(point["texts"] for point in document("shortened")["points"])
    assert document("summary")["summary"]


@pytest.mark.parametrize("case", CASES)
def test_what_is_whole_is_used(case: str) -> None:
    previous = wire.loads(MessageSelection, stored(case))
    selection = chosen_after(case, previous)
    assert IGNORED not in selection.notes
    assert selection.stable_prefix_tokens > 0
    # What was read can be stored again, with the same text.
    assert wire.dumps(previous) == stored(case)
    wire.loads(MessageSelection, stored(case), strict=True)


def damaged(value: Any, random: Random) -> Any:
    """Another value of the same type, or a neighbour."""
    if isinstance(value, bool) or value is None:
        return 1
    if isinstance(value, int):
        return value + random.choice((-1, 1, 2, -1_000, 10**6))
    if isinstance(value, str):
        return random.choice((f"{value}x", value[1:], ""))
    if isinstance(value, dict):
        return {}
    if not value:
        return [0]
    n = random.randrange(len(value))
    return random.choice(([*value[:n], *value[n + 1 :]], [*value, value[n]], value[::-1], []))


def damage(found: Any, random: Random) -> None:
    """Change one value somewhere in a document."""
    while True:
        key = random.choice([*found] if isinstance(found, dict) else [*range(len(found))])
        inner = found[key]
        if not isinstance(inner, (dict, list)) or not inner or random.random() < 0.3:
            found[key] = damaged(inner, random)
            return
        found = inner


USED = ("kept", "dropped", "shortened", "summary", "summarized", "points", "fingerprint", "checksum")


@pytest.mark.unmeasured
@pytest.mark.parametrize("case", CASES)
def test_damage_is_refused_or_ignored(case: str) -> None:
    """One value changed: the result is what it is without the previous selection, or the file is refused."""
    alone = chosen_after(case, None)
    refused = ignored = 0
    for seed in range(150):
        random, found = Random(seed), document(case)
        name = random.choice([each for each in USED if each in found])
        part = {name: found[name]}
        damage(part, random)
        found |= part
        if found == document(case):
            continue
        try:
            previous = wire.from_dict(MessageSelection, found)
        except DocumentError:
            refused += 1
            continue
        selection = chosen_after(case, previous)
        # Without its points, which only save time, the rest is as good as it was.
        used = IGNORED not in selection.notes
        assert not used or not previous.points, (seed, name)
        ignored += not used
        if case != "summary":
            assert_same(selection, alone)
        else:
            assert selection.kept == alone.kept
    assert refused > 20
    assert ignored > 20


def forged(found: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """A document with a checksum that fits what was changed."""
    change(found)
    memory = Memory(found["fingerprint"], [wire.from_dict(Point, each) for each in found["points"]])
    made = replace(wire.from_dict(MessageSelection, found), memory=memory)
    return {**found, "checksum": _checksum(made)}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda found: found["kept"].reverse(), "kept"),
        (lambda found: found["kept"].append(5), "kept"),
        (lambda found: found["kept"].pop(), "points"),
        (lambda found: found["dropped"].reverse(), "dropped"),
        (lambda found: found["dropped"].pop(), "kept"),
        (lambda found: found["dropped"].append(found["dropped"][-1]), "dropped"),
        (lambda found: found["messages"].pop(), "messages"),
        (lambda found: found["messages"].append(found["messages"][-1]), "messages"),
        (lambda found: found["shortened"].append(found["shortened"][0]), "shortened"),
        (lambda found: found["shortened"][0].update(index=found["dropped"][0]["index"]), "shortened"),
        (lambda found: found["points"].reverse(), "points"),
        (lambda found: found["points"][1].update(end=10**6), "points"),
        (lambda found: found["points"][0]["gone"].append(10**6), "points[0].gone"),
        (lambda found: found["points"][0]["gone"].reverse(), "points[0].gone"),
        (lambda found: found["points"][0]["gone"].append(found["kept"][-1]), "points[0].gone"),
    ],
)
def test_what_no_history_can_have_is_refused(change: Any, path: str) -> None:
    found = document("shortened")
    change(found)
    with pytest.raises(DocumentError) as raised:
        wire.from_dict(MessageSelection, found)
    assert raised.value.path == path


def drop(found: dict[str, Any], index: int) -> None:
    """Claim that a kept message was dropped, with all that belongs to it in the file."""
    found["messages"].pop(found["kept"].index(index))
    found["kept"].remove(index)
    found["dropped"] = sorted(
        [*found["dropped"], {"index": index, "reason": found["dropped"][0]["reason"]}], key=lambda each: each["index"]
    )
    found["shortened"] = [each for each in found.get("shortened", ()) if each["index"] != index]
    for point in found["points"]:
        point["gone"] = sorted([*point["gone"], index])


@pytest.mark.parametrize(
    "change",
    [
        lambda found: drop(found, 0),
        # A result without its call: not the first message of a unit.
        lambda found: drop(found, next(n for n in found["kept"] if n % 4 == 3)),
        lambda found: found["points"][-1]["texts"].append({"message": 1, "number": 0, "text": "x"}),
        lambda found: found["points"][-1]["texts"][0].update(number=7),
        lambda found: found["points"][-1]["texts"][0].update(number=-2),
        lambda found: found["points"][-1]["texts"][0].update(message=-1),
        lambda found: found["points"][-1]["texts"][0].update(message=10**6),
        lambda found: found["points"][-1]["texts"][0].update(message=found["points"][-1]["gone"][0]),
        # A message that only calls has no text that could be shortened.
        lambda found: found["points"][-1]["texts"][0].update(
            message=found["points"][-1]["texts"][0]["message"] - 1, number=-1
        ),
    ],
)
def test_what_the_messages_do_not_have_is_ignored_with_a_note(change: Any) -> None:
    """Even if its checksum fits."""
    previous = wire.from_dict(MessageSelection, forged(document("shortened"), change))
    selection = chosen_after("shortened", previous)
    assert IGNORED in selection.notes
    assert_same(selection, chosen_after("shortened", None))


def test_what_is_forged_and_fits_is_used() -> None:
    """A checksum is against damage, not malice: whoever writes the file decides what was dropped."""
    _, last = wire.loads(MessageSelection, stored("shortened")).points
    asked = next(n for n in range(1, last.end, 4) if n not in last.gone)
    texts = sorted([ResultText(asked, -1, "Forged."), *last.texts])

    def change(found: dict[str, Any]) -> None:
        found["points"][-1]["texts"] = [wire.to_dict(each) for each in texts]

    selection = chosen_after("shortened", wire.from_dict(MessageSelection, forged(document("shortened"), change)))
    assert IGNORED not in selection.notes
    assert errors(selection.messages) == []
    assert {"role": "user", "content": "Forged."} in selection.messages


@pytest.mark.parametrize("dropped", [(), slice(1, None)])
def test_a_selection_whose_drops_were_replaced_is_ignored_with_a_note(dropped: Any) -> None:
    """In memory, too: today's fields are not those that the points were made with."""
    history, budget, options = CASES["talk"]
    previous = select(history[:-2], budget, **options)
    previous = replace(previous, dropped=() if dropped == () else previous.dropped[dropped])
    selection = chosen_after("talk", previous)
    assert IGNORED in selection.notes
    assert_same(selection, chosen_after("talk", None))


def test_points_of_another_selection_are_ignored_with_a_note() -> None:
    history, budget, options = CASES["talk"]
    previous = select(history[:-2], budget, **options)
    previous.memory.points = tuple(Point(each.end, (0, 1), each.shape) for each in previous.points)
    selection = chosen_after("talk", previous)
    assert IGNORED in selection.notes
    assert_same(selection, chosen_after("talk", None))


def test_a_selection_without_a_checksum_is_ignored_with_a_note() -> None:
    found = document("talk")
    del found["checksum"]
    assert IGNORED in chosen_after("talk", wire.from_dict(MessageSelection, found)).notes


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [70, 400, 5_000])
def test_deep_messages_are_refused(depth: int) -> None:
    found = document("talk")
    found["messages"][0] = {"role": "system", "content": "x", "extra": nested(depth)}
    with pytest.raises(DocumentError, match="nested more than 64 levels deep") as raised:
        wire.from_dict(MessageSelection, found)
    assert raised.value.path.startswith("messages[0].extra[0]")


@pytest.mark.parametrize("depth", [70, 200])
def test_what_would_not_be_read_is_not_written(depth: int) -> None:
    selection = select([{**question(), "extra": nested(depth)}], 600)
    with pytest.raises(DocumentError, match="nested more than 64 levels deep"):
        wire.dumps(selection)
    near = select([{**question(), "extra": nested(60)}], 600)
    assert wire.loads(MessageSelection, wire.dumps(near)).messages == near.messages
    # The limit is of each message, wherever it is in the document.
    assert deepcopy(near) == near
