"""What was read of a history is not read again with `previous=`."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from enum import StrEnum
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

from pycupel import wire
from pycupel.errors import MessageShapeError
from pycupel.messages import MessageSelection, select_messages, set_memory_limit
from pycupel.messages.conversations import DEFAULT_LIMIT
from pycupel.messages.providers import PROVIDERS
from pycupel.messages.providers._shapes import plain_messages
from tests.messages.chats import small_talk
from tests.messages.histories import WRITERS, Exchange, Message
from tests.messages.stand_ins import as_object


@pytest.fixture(autouse=True)
def without_memory() -> Iterator[None]:
    """Here it is the previous selection that remembers; what the process does is in `test_conversations`."""
    set_memory_limit(0)
    yield
    set_memory_limit(DEFAULT_LIMIT)


class Counting:
    """A counter that remembers what it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> int:
        self.texts.append(text)
        return len(text)

    def count(self, text: str) -> int:
        return self(text)


def asked(counter: Any, texts: list[str], history: list[Any], **options: Any) -> list[str]:
    """The texts that are counted for a history."""
    texts.clear()
    select_messages(history, 600, counter=counter, **options)
    return list(texts)


def test_only_what_came_since_is_counted() -> None:
    history, counter = small_talk(60), Counting()
    previous = select_messages(history[:-2], 600, counter=counter)
    later = asked(counter, counter.texts, history, previous=previous)
    assert later == [message["content"] for message in history[-2:]]


def test_a_method_is_the_same_counter_each_time_it_is_looked_up() -> None:
    history, counter = small_talk(60), Counting()
    previous = select_messages(history[:-2], 600, counter=counter.count)
    assert len(asked(counter.count, counter.texts, history, previous=previous)) == 2


@pytest.mark.parametrize("how", ["another counter", "another provider", "an edited message", "fewer messages", "JSON"])
def test_everything_is_counted_where_it_may_be_different(how: str) -> None:
    history, counter = small_talk(60), Counting()
    previous = select_messages(history[:-2], 600, counter=counter)
    options: dict[str, Any] = {"previous": previous, "counter": counter}
    if how == "another counter":
        options["counter"] = counter.count
    elif how == "another provider":
        options["provider"] = "anthropic"
    elif how == "an edited message":
        history[3]["content"] += "!"
    elif how == "fewer messages":
        history = history[:-4]
    else:
        options["previous"] = wire.loads(MessageSelection, wire.dumps(previous))
    expected = select_messages(history, 600, **{**options, "previous": None})
    counter.texts.clear()
    selection = select_messages(history, 600, **options)
    assert len(counter.texts) == len(history)
    assert (selection.messages, selection.total_tokens) == (expected.messages, expected.total_tokens)


@pytest.mark.parametrize("make", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_deep_copy_of_a_selection_has_read_nothing(make: Any) -> None:
    """A function that counts need not be one that can be pickled."""
    selection = select_messages(small_talk(4), 600, counter=lambda text: len(text))  # noqa: PLW0108
    copied = make(selection)
    assert copied == selection
    assert not copied.memory.views
    assert copied.points == selection.points


@pytest.mark.parametrize("provider", WRITERS)
def test_a_reading_may_start_at_any_message(provider: str) -> None:
    """Gemini's calls need no ids: results are matched with the calls before them."""
    known, write = PROVIDERS[provider], WRITERS[provider]
    once, twice = (("1", "run"),), (("2", "run"), ("3", "run"))
    history = [
        *write.user("Go.", picture=False),
        *write.exchange(Exchange(once, (0,))),
        *write.exchange(Exchange(twice, (1, 0))),
        *write.assistant("Done.", thinks=False),
        *write.user("Again.", picture=False),
        *write.exchange(Exchange((("4", "run"),), (0,))),
    ]
    views = known.read(history)
    for start in range(len(history) + 1):
        assert known.read(history, start=start) == views[start:]


def cached_talk(end: int, cached: set[int]) -> list[Any]:
    """Messages for Anthropic, some of which have `cache_control`."""
    mark = {"cache_control": {"type": "ephemeral"}}
    blocks = [{"type": "text", "text": f"{n} cache_control", **(mark if n in cached else {})} for n in range(end)]
    return [{"role": ("user", "assistant")[n % 2], "content": [block]} for n, block in enumerate(blocks)]


@pytest.mark.parametrize("make", [list, as_object])
@pytest.mark.parametrize(
    ("then", "now"),
    [({0, 1, 2, 3}, {4, 5, 6, 8}), ({8}, {0, 1, 2, 3, 4}), ({0, 1, 2, 3}, {0, 1, 2, 3, 8}), ({0, 2, 4, 6, 8}, set())],
)
def test_cache_control_may_move_from_call_to_call(make: Any, then: set[int], now: set[int]) -> None:
    """Only the messages that have it, or had it, are read again."""
    counter = Counting()
    previous = select_messages(make(cached_talk(9, then)), 600, provider="anthropic", counter=counter)
    history = make(cached_talk(11, now))
    counter.texts.clear()
    selection = select_messages(history, 600, provider="anthropic", counter=counter, previous=previous)
    assert sorted(counter.texts) == sorted(f"{n} cache_control" for n in {*then, *now, 9, 10})
    again = select_messages(history, 600, provider="anthropic", counter=counter)
    assert selection.notes == again.notes
    assert bool(selection.notes) == (len(now) > 4)
    assert selection.memory.views == again.memory.views


def test_a_memory_has_a_short_repr() -> None:
    memory = select_messages(small_talk(60), 600, counter="estimator").memory
    assert repr(memory) == "<Memory: 2 points, 120 messages counted by estimator (pycupel 2)>"
    assert repr(memory.stored()) == "<Memory: 2 points, stored>"


class Model(BaseModel, extra="allow"):
    """A message of a library that is built with Pydantic."""

    role: str
    content: Any = None
    name: str | None = None

    @property
    def refusal(self) -> str | None:
        return "No." if self.content is None else None


class Dynamic(BaseModel):
    """A message that finds its attributes by itself."""

    role: str

    def __getattr__(self, name: str) -> Any:
        if name == "content":
            return "said"
        raise AttributeError(name)


def test_models_of_pydantic_are_read_like_dicts() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    history: list[Message] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "text", "tool_call_id": "c1"},
        {"role": "assistant", "refusal": "No."},
        {"role": "user", "content": "said"},
    ]
    models: list[Any] = [Model(**{k: v for k, v in each.items() if k != "refusal"}) for each in history[:-1]]
    models.append(Dynamic(role="user"))
    known = PROVIDERS["openai"]
    for one, other in zip(known.read(history), known.read(models), strict=True):
        assert (one.role, one.text, one.tokens, one.calls, one.results) == (
            other.role,
            other.text,
            other.tokens,
            other.calls,
            other.results,
        )


class Level(StrEnum):
    TEXT = "text"


class Block(BaseModel):
    type: Level = Level.TEXT
    text: str
    role: ClassVar[str] = "nobody"


def test_blocks_inside_dicts_and_lists_are_converted_with_their_messages() -> None:
    block = Block(text="So.")
    history: list[Any] = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": [block, "Well."]}]
    plain = plain_messages(history)
    assert plain[1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "So.", "role": "nobody"}, "Well."],
    }
    # So that everything about them is as fast as for dicts.
    assert type(plain[1]["content"][0]["type"]) is str
    assert plain_messages(plain) is plain
    assert PROVIDERS["openai"].read(history)[1].text == "So.\nWell."
    # The caller's messages are what is returned.
    selection = select_messages(history, 600, counter=len)
    assert selection.messages[1]["content"][0] is block


def test_objects_of_other_classes_stay_as_they_are() -> None:
    other = SimpleNamespace(role="user", content="Go.")
    assert plain_messages([other])[0] is other


def test_empty_lists_of_calls_are_left_out_of_objects_only() -> None:
    """LangChain's messages always have them, and it does not send them."""
    given: Message = {"role": "assistant", "content": "So.", "tool_calls": [], "invalid_tool_calls": []}
    assert plain_messages([Model(**given)]) == ({"role": "assistant", "content": "So."},)
    assert plain_messages([given])[0] is given


def test_models_that_are_nested_too_deeply_are_refused() -> None:
    inner: Any = "read"
    for _ in range(5_000):
        inner = [inner]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": inner}
    history: list[Any] = [Model(role="user", content="Go."), Model.model_construct(role="user", content=[result])]
    with pytest.raises(MessageShapeError, match="nested too deeply") as caught:
        select_messages(history, 600, counter=len)
    assert caught.value.index == 1


def test_models_of_pydantic_are_recognised_by_what_they_hold() -> None:
    def models(last: str) -> list[Any]:
        made: list[dict[str, Any]] = [
            {"role": "user", "content": "Go.", "more": ["a"]},
            {"role": "assistant", "content": "So.", "more": last},
        ]
        return [Model(**each) for each in made]

    first = select_messages(models("a"), 600, counter=len)
    assert select_messages(models("a"), 600, counter=len, previous=first).notes == ()
    assert len(select_messages(models("b"), 600, counter=len, previous=first).notes) == 1
