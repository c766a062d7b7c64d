"""`ContextItem` and `ScoredItem`. Data model: ContextItem, ScoredItem."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import pickle
import sys
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from types import MappingProxyType
from typing import Any

import pytest

from pycupel import (
    ContextBudget,
    ContextItem,
    ContextKind,
    ContextSource,
    CupelError,
    Pipeline,
    RecencyScorer,
    ScoredItem,
)
from pycupel.diagnostics import PipelineStage
from pycupel.errors import InvalidItemError
from pycupel.model.item import split_scored
from pycupel.values import FrozenDict
from tests.model.numbers import IndexOnly

NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)

FIELDS = (
    "content",
    "tokens",
    "kind",
    "source",
    "priority",
    "tags",
    "metadata",
    "timestamp",
    "future_relevance_hint",
    "pinned",
    "original_tokens",
)


class Stamp(datetime):
    """What pandas has: a datetime of its own."""


class ClockChange(tzinfo):
    """A zone that goes back from 03:00 (+02:00) to 02:00 (+01:00) on 27 October 2024."""

    def utcoffset(self, moment: datetime | None) -> timedelta:
        assert moment is not None
        wall = moment.replace(tzinfo=None)
        again = wall >= datetime(2024, 10, 27, 2) and moment.fold == 1  # noqa: DTZ001 - wall clock
        winter = wall >= datetime(2024, 10, 27, 3) or again  # noqa: DTZ001 - wall clock
        return timedelta(hours=1 if winter else 2)

    def dst(self, moment: datetime | None) -> timedelta:
        return self.utcoffset(moment) - timedelta(hours=1)

    def tzname(self, moment: datetime | None) -> str:
        return "CHANGE"


class NoOffset(tzinfo):
    """A time zone that does not tell its offset: such a datetime is naive."""

    def utcoffset(self, moment: datetime | None) -> None:
        return None

    def dst(self, moment: datetime | None) -> None:
        return None

    def tzname(self, moment: datetime | None) -> str:
        return "?"


class Untouchable:
    """A value that fails the test if anybody looks at it."""

    def _touched(self, *args: object) -> Any:
        raise AssertionError("metadata was read")

    __eq__ = __hash__ = __bool__ = __str__ = __repr__ = __len__ = __iter__ = _touched


def full_item(**changes: Any) -> ContextItem:
    """An item without any default."""
    values: dict[str, Any] = {
        "content": "text",
        "tokens": 5,
        "kind": "Document",
        "source": "Rag",
        "priority": 3,
        "tags": ["a", "B"],
        "metadata": {"key": "value"},
        "timestamp": NOON,
        "future_relevance_hint": 0.5,
        "pinned": True,
        "original_tokens": 9,
    }
    return ContextItem(**{**values, **changes})


# --- fields and defaults


@pytest.mark.proves("S-IT-02", "S-IT-03", "S-IT-04", "S-IT-05", "S-IT-06", "S-IT-07", "S-IT-08", "S-IT-09", "S-IT-10")
def test_content_and_tokens_are_enough() -> None:
    """ContextItem: the defaults of the field table."""
    item = ContextItem("text", 5)
    assert {name: getattr(item, name) for name in FIELDS} == {
        "content": "text",
        "tokens": 5,
        "kind": ContextKind.MESSAGE,
        "source": ContextSource.CHAT,
        "priority": None,
        "tags": (),
        "metadata": {},
        "timestamp": None,
        "future_relevance_hint": None,
        "pinned": False,
        "original_tokens": None,
    }


def test_every_field_is_kept() -> None:
    item = full_item()
    assert {name: getattr(item, name) for name in FIELDS} == {
        "content": "text",
        "tokens": 5,
        "kind": ContextKind.DOCUMENT,
        "source": ContextSource.RAG,
        "priority": 3,
        "tags": ("a", "B"),
        "metadata": {"key": "value"},
        "timestamp": NOON,
        "future_relevance_hint": 0.5,
        "pinned": True,
        "original_tokens": 9,
    }


def test_the_signature_is_the_specifications() -> None:
    """ContextItem: two required fields, and the others by keyword only."""
    parameters = inspect.signature(ContextItem).parameters
    assert tuple(parameters) == FIELDS
    keyword_only = [name for name, p in parameters.items() if p.kind is inspect.Parameter.KEYWORD_ONLY]
    assert tuple(keyword_only) == FIELDS[2:]


def test_the_fields_are_those_of_a_dataclass() -> None:
    assert tuple(field.name for field in dataclasses.fields(ContextItem)) == FIELDS


@pytest.mark.proves("S-IT-01")
@pytest.mark.parametrize("arguments", [(), ("text",), ("text", 5, "Message")])
def test_a_wrong_number_of_arguments_is_a_type_error(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        ContextItem(*arguments)


def test_an_unknown_field_is_a_type_error() -> None:
    misspelled: dict[str, Any] = {"tag": ["x"]}
    with pytest.raises(TypeError, match="tag"):
        ContextItem("text", 5, **misspelled)


# --- content


@pytest.mark.proves("S-IT-11")
def test_empty_content_is_refused() -> None:
    """DM-01: content MUST be non-empty."""
    with pytest.raises(InvalidItemError, match=r"^content must not be empty$") as caught:
        ContextItem("", 1)
    assert caught.value.argument == "content"
    assert caught.value.value == ""
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, CupelError)


@pytest.mark.parametrize("content", [" ", "\n", "\t \r\n", "\ufeff", "\0", "\ud800"])
def test_content_may_be_any_other_string(content: str) -> None:
    """DM-01: white space alone is legal. DD-04: so is a lone surrogate."""
    assert ContextItem(content, 1).content == content


# --- integers


@pytest.mark.proves("S-IT-04")
@pytest.mark.parametrize("field", ["tokens", "priority", "original_tokens"])
@pytest.mark.parametrize(("given", "number"), [(-(2**70), -(2**70)), (IndexOnly(12), 12)])
def test_integers_are_unbounded_and_come_from_index(field: str, given: Any, number: int) -> None:
    """DM-02, PY-05: any integer, negative ones too, also numpy's; what is stored is a plain int."""
    value = getattr(full_item(**{field: given}), field)
    assert value == number
    assert type(value) is int


def test_the_original_tokens_need_not_fit_the_tokens() -> None:
    """DM-02: `original_tokens` is not validated."""
    assert ContextItem("text", 10, original_tokens=-5).original_tokens == -5


# --- kind and source


@pytest.mark.parametrize("field", ["kind", "source"])
@pytest.mark.parametrize("given", ["Custom", "cUSTOM"])
def test_a_string_is_wrapped(field: str, given: str) -> None:
    """DM-11: a plain str is accepted."""
    value = getattr(full_item(**{field: given}), field)
    assert type(value) is (ContextKind if field == "kind" else ContextSource)
    assert value.value == given


@pytest.mark.parametrize(("field", "given"), [("kind", ContextKind("Custom")), ("source", ContextSource("Custom"))])
def test_a_kind_or_source_is_taken_as_it_is(field: str, given: Any) -> None:
    assert getattr(full_item(**{field: given}), field) is given


@pytest.mark.parametrize("field", ["kind", "source"])
def test_a_string_of_a_subclass_is_wrapped_too(field: str) -> None:
    class Text(str):
        __slots__ = ()

    assert getattr(full_item(**{field: Text("Custom")}), field) == "custom"


@pytest.mark.parametrize(("field", "name"), [("kind", "ContextKind"), ("source", "ContextSource")])
@pytest.mark.parametrize("given", ["", "  \t"])
def test_a_blank_kind_or_source_is_refused(field: str, name: str, given: str) -> None:
    """DM-11, DM-12: it is an InvalidItemError."""
    with pytest.raises(InvalidItemError, match=f"^{name} must not be empty or blank$"):
        full_item(**{field: given})


REMEMBERED = pytest.mark.parametrize(("field", "cls"), [("kind", ContextKind), ("source", ContextSource)])


@REMEMBERED
def test_any_number_of_distinct_names_works(field: str, cls: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Enumerations: arbitrary values. What is remembered of them is bounded, what is possible is not."""
    known: dict[str, Any] = {}
    monkeypatch.setattr(cls, "_known", known)
    names = [f"{field}-{i}" for i in range(2_500)]
    for _ in range(2):
        values = [getattr(full_item(**{field: name}), field) for name in names]
        assert [value.value for value in values] == names
    assert len(known) == 1_000


@REMEMBERED
def test_a_name_that_was_given_before_is_not_built_again(
    field: str, cls: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cls, "_known", {})
    first, second = (getattr(full_item(**{field: "Note"}), field) for _ in range(2))
    assert first is second


@pytest.mark.parametrize("field", ["kind", "source"])
def test_names_of_two_spellings_are_not_mixed_up(field: str) -> None:
    """DM-10: what is remembered of one spelling is not given for another."""
    spellings = ["Mixed", "MIXED", "mixed", "Mixed"]
    assert [str(getattr(full_item(**{field: s}), field)) for s in spellings] == spellings


# --- tags


@pytest.mark.parametrize(
    "given",
    [
        ["b", "a", "b"],
        ("b", "a", "b"),
        (tag for tag in "bab"),
        iter(["b", "a", "b"]),
        {0: "b", 1: "a", 2: "b"}.values(),
    ],
)
def test_tags_are_any_iterable_and_become_a_tuple(given: Any) -> None:
    """DM-06, PY-14: order and repetitions are kept, generators are read once."""
    assert ContextItem("text", 1, tags=given).tags == ("b", "a", "b")


def test_tags_keep_their_spelling() -> None:
    """DM-03: comparing them is the scorers' business."""
    assert ContextItem("text", 1, tags=["Important", "important", ""]).tags == ("Important", "important", "")


@pytest.mark.parametrize("wrong", [None, 1, b"x", ("x",)])
def test_every_tag_is_a_string(wrong: Any) -> None:
    with pytest.raises(TypeError) as caught:
        ContextItem("text", 1, tags=["fine", wrong])
    assert str(caught.value) == f"tags[1] must be a str, not {wrong!r} ({type(wrong).__name__})"


def test_tags_may_be_subclasses_of_str() -> None:
    assert ContextItem("text", 1, tags=["fine", PipelineStage.SCORE]).tags == ("fine", "Score")


def test_a_later_change_of_the_callers_tags_has_no_effect() -> None:
    """DM-06: tags are copied."""
    tags = ["a"]
    item = ContextItem("text", 1, tags=tags)
    tags.append("b")
    assert item.tags == ("a",)


# --- metadata


class Settings(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __getitem__(self, key: str) -> Any:
        return {"key": "value"}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(["key"])

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("given", [{"key": "value"}, MappingProxyType({"key": "value"}), Settings()])
def test_metadata_is_any_mapping(given: Mapping[str, Any]) -> None:
    """DM-05: a map of string to any."""
    assert ContextItem("text", 1, metadata=given).metadata == {"key": "value"}


@pytest.mark.parametrize("value", [None, 1, "x", [1], {"nested": {}}, object(), math.nan])
def test_metadata_values_may_be_anything(value: Any) -> None:
    """DM-05: the very object is kept."""
    assert ContextItem("text", 1, metadata={"key": value}).metadata["key"] is value


@pytest.mark.parametrize("key", [None, 1, b"key", ("key",)])
def test_metadata_keys_are_strings(key: Any) -> None:
    """DM-05: keys must be str."""
    with pytest.raises(TypeError) as caught:
        ContextItem("text", 1, metadata={"fine": 1, key: 2})
    assert str(caught.value) == f"metadata: key must be a str, not {key!r} ({type(key).__name__})"


@pytest.mark.proves("S-MT-01", "S-MK-03")
def test_metadata_keys_are_exact_and_not_policed() -> None:
    """DM-21: case matters, and the prefix `cupel:` is not validated."""
    metadata = {"cupel:trust": "0.5", "Cupel:Trust": "x", "cupel:unheard-of": 1, "": 2}
    assert ContextItem("text", 1, metadata=metadata).metadata == metadata


def test_a_later_change_of_the_callers_metadata_has_no_effect() -> None:
    """DM-06: metadata is copied."""
    metadata = {"key": "value"}
    item = ContextItem("text", 1, metadata=metadata)
    metadata["key"] = "other"
    metadata["more"] = "x"
    assert item.metadata == {"key": "value"}


def test_a_change_behind_a_read_only_view_has_no_effect() -> None:
    """DM-06: a read-only view of something that can change is copied as well."""
    metadata = {"key": "value"}
    item = ContextItem("text", 1, metadata=MappingProxyType(metadata))
    metadata["key"] = "other"
    assert item.metadata == {"key": "value"}


def test_metadata_is_frozen_one_level_deep() -> None:
    """DM-05: shallow freeze only."""
    inner = [1]
    item = ContextItem("text", 1, metadata={"key": inner})
    inner.append(2)
    assert item.metadata["key"] == [1, 2]


@pytest.mark.proves("S-IT-14", "S-IT-15")
def test_the_pipeline_neither_reads_nor_changes_metadata() -> None:
    """DM-04: the pipeline MUST NOT read metadata, and MUST preserve it."""
    secret = Untouchable()
    items = [
        ContextItem("a", 1, metadata={"key": secret}, timestamp=NOON),
        ContextItem("a", 1, metadata={"key": secret}),
        ContextItem("b", 1, metadata={"key": secret}, pinned=True),
        ContextItem("c", 1_000, metadata={"key": secret}),
    ]
    report = Pipeline(RecencyScorer()).dry_run(items, ContextBudget(100))
    assert sorted(item.content for item in report.items) == ["a", "b"]
    assert all(item.metadata["key"] is secret for item in report.items)


# --- timestamp


@pytest.mark.proves("S-IT-16")
@pytest.mark.parametrize(
    "zone", [UTC, timezone(timedelta(hours=2)), timezone(timedelta(hours=-9, minutes=-30)), ClockChange()]
)
def test_an_aware_timestamp_becomes_utc(zone: tzinfo) -> None:
    """DM-07, PY-02: the same instant, in UTC."""
    item = ContextItem("text", 1, timestamp=NOON.astimezone(zone))
    assert item.timestamp == NOON
    assert item.timestamp.tzinfo is UTC
    assert item.timestamp.replace(tzinfo=None) == NOON.replace(tzinfo=None)


def test_microseconds_survive() -> None:
    """ContextItem: UTC instant precision is preserved."""
    moment = datetime(2024, 6, 1, 12, 0, 0, 1, tzinfo=timezone(timedelta(hours=5)))
    stored = ContextItem("text", 1, timestamp=moment).timestamp
    assert stored is not None
    assert stored.microsecond == 1


@pytest.mark.proves("S-IT-16")
def test_the_repeated_hour_of_a_clock_change_is_told_apart() -> None:
    """DM-07, PY-02: Python compares times of one zone by the wall clock; items compare instants."""
    first = datetime(2024, 10, 27, 2, 30, tzinfo=ClockChange())
    second = first.replace(fold=1)
    assert first == second
    earlier = ContextItem("text", 1, timestamp=first).timestamp
    later = ContextItem("text", 1, timestamp=second).timestamp
    assert earlier is not None
    assert later is not None
    assert later - earlier == timedelta(hours=1)


def test_a_clock_that_goes_back_does_not_reorder_instants() -> None:
    """DM-07: 02:40 before the change is earlier than 02:10 after it."""
    zone = ClockChange()
    before = ContextItem("a", 1, timestamp=datetime(2024, 10, 27, 2, 40, tzinfo=zone))
    after = ContextItem("b", 1, timestamp=datetime(2024, 10, 27, 2, 10, tzinfo=zone, fold=1))
    assert Pipeline(RecencyScorer()).run([after, before], ContextBudget(100)) == [before, after]


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=1))])
def test_a_subclass_of_datetime_becomes_a_plain_one(zone: tzinfo) -> None:
    """DM-07: other people's classes bring their own comparison along."""
    stored = ContextItem("text", 1, timestamp=Stamp(2024, 6, 1, 12, tzinfo=zone)).timestamp
    assert type(stored) is datetime
    assert stored.tzinfo is UTC


@pytest.mark.parametrize(
    "given",
    [datetime(2024, 6, 1), datetime(2024, 6, 1, tzinfo=NoOffset()), Stamp(2024, 6, 1)],  # noqa: DTZ001 - the point
)
def test_a_naive_timestamp_is_refused_with_a_hint(given: datetime) -> None:
    """DM-07, DM-12: an InvalidItemError that says what to do."""
    with pytest.raises(InvalidItemError) as caught:
        ContextItem("text", 1, timestamp=given)
    assert str(caught.value).startswith("timestamp must have a time zone")
    assert "datetime.now(timezone.utc)" in "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert caught.value.argument == "timestamp"
    assert caught.value.value is given


# --- hint and pin


@pytest.mark.proves("S-IT-08")
@pytest.mark.parametrize("hint", [0.0, -1.5, 7.0, math.nan, math.inf, -math.inf, 1e308])
def test_a_hint_may_be_any_float(hint: float) -> None:
    """DM-08: no validation at construction."""
    assert repr(ContextItem("text", 1, future_relevance_hint=hint).future_relevance_hint) == repr(hint)


def test_an_integer_hint_becomes_a_float() -> None:
    """DM-08: int to float."""
    hint = ContextItem("text", 1, future_relevance_hint=1).future_relevance_hint
    assert hint == 1.0
    assert type(hint) is float


# --- errors


@pytest.mark.proves("S-IT-01", "S-IT-11")
@pytest.mark.parametrize(
    ("field", "wrong", "expected"),
    [
        ("content", b"text", "a str"),
        ("tokens", None, "an int"),
        ("tokens", "1", "an int"),
        ("priority", 0.5, "an int"),
        ("original_tokens", True, "an int"),
        ("kind", 3, "a str or a ContextKind"),
        ("kind", ContextSource.CHAT, "a str or a ContextKind"),
        ("source", b"Chat", "a str or a ContextSource"),
        ("source", ContextKind.MESSAGE, "a str or a ContextSource"),
        # PY-14: it is an iterable of letters, which is never meant.
        ("tags", "abc", "an iterable of str"),
        ("metadata", [("key", "value")], "a mapping"),
        ("timestamp", "2024-06-01T00:00:00Z", "a datetime"),
        ("timestamp", date(2024, 6, 1), "a datetime"),
        ("future_relevance_hint", "0.5", "a number"),
        ("pinned", 1, "a bool"),
    ],
)
def test_a_value_of_a_wrong_type_is_shown_with_its_argument(field: str, wrong: Any, expected: str) -> None:
    """DM-01, DM-02, PY-05; `test_checks.py` shows which values have a wrong type."""
    with pytest.raises(TypeError) as caught:
        full_item(**{field: wrong})
    assert str(caught.value) == f"{field} must be {expected}, not {wrong!r} ({type(wrong).__name__})"
    assert getattr(caught.value, "argument", None) == field


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("content", ""),
        ("kind", " "),
        ("source", " "),
        ("tags", [1]),
        ("metadata", {1: 2}),
        ("timestamp", datetime(2024, 6, 1)),  # noqa: DTZ001 - the point
        ("timestamp", datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))),
    ],
)
def test_every_other_error_names_its_argument_too(field: str, wrong: Any) -> None:
    """Readers of documents find the field that failed by it."""
    with pytest.raises((TypeError, InvalidItemError)) as caught:
        full_item(**{field: wrong})
    assert getattr(caught.value, "argument", None) == field


# --- immutability


@pytest.mark.proves("S-IT-17")
@pytest.mark.parametrize("field", FIELDS)
def test_no_field_can_be_assigned_or_deleted(field: str) -> None:
    """ContextItem: once constructed, an item MUST NOT be modified."""
    item = full_item()
    with pytest.raises(FrozenInstanceError):
        setattr(item, field, getattr(item, field))
    with pytest.raises(FrozenInstanceError):
        delattr(item, field)
    assert item == full_item()


def test_there_is_no_room_for_more() -> None:
    item: Any = full_item()
    with pytest.raises((AttributeError, TypeError)):
        item.extra = 1
    assert not hasattr(item, "__dict__")


@pytest.mark.proves("S-IT-17")
def test_tags_cannot_be_changed() -> None:
    """DM-06: a tuple."""
    assert type(full_item().tags) is tuple
    tags: Any = full_item().tags
    with pytest.raises(TypeError):
        tags[0] = "other"


@pytest.mark.proves("S-IT-17")
@pytest.mark.parametrize("item", [full_item(), ContextItem("text", 1)])
def test_metadata_cannot_be_changed(item: ContextItem) -> None:
    """DM-05: read-only, also where it is empty."""
    metadata: Any = item.metadata
    with pytest.raises(TypeError):
        metadata["key"] = "other"
    with pytest.raises(TypeError):
        del metadata["key"]
    with pytest.raises(TypeError):
        metadata.clear()


def test_an_item_cannot_be_subclassed() -> None:
    with pytest.raises(TypeError, match="metadata"):
        type("Special", (ContextItem,), {})


# --- equality, hash, copies


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("content", "other"),
        ("tokens", 6),
        ("kind", "Memory"),
        ("source", "Tool"),
        ("priority", None),
        ("tags", ["B", "a"]),
        ("tags", ["a", "b"]),
        ("metadata", {"key": "other"}),
        ("metadata", {}),
        ("timestamp", NOON + timedelta(microseconds=1)),
        ("timestamp", None),
        ("future_relevance_hint", 0.25),
        ("pinned", False),
        ("original_tokens", None),
    ],
)
def test_items_differ_if_any_field_does(field: str, other: Any) -> None:
    """DM-18: structural equality, with metadata and the order of tags."""
    assert full_item() != full_item(**{field: other})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kind": "DOCUMENT", "source": "rag"},
        {"timestamp": NOON.astimezone(timezone(timedelta(hours=3)))},
        {"tags": ("a", "B")},
        {"metadata": Settings()},
        {"tokens": IndexOnly(5)},
    ],
)
def test_items_of_equal_fields_are_equal_and_have_one_hash(changes: dict[str, Any]) -> None:
    """DM-18: structural equality, and a hash that agrees with it."""
    assert full_item() == full_item(**changes)
    assert hash(full_item()) == hash(full_item(**changes))


def test_the_hash_leaves_metadata_out() -> None:
    """DM-18, PY-12: metadata may hold what has no hash."""
    unhashable: dict[str, Any] = {"key": []}
    assert hash(full_item(metadata=unhashable)) == hash(full_item())


def test_items_can_be_kept_in_sets() -> None:
    assert {full_item(), full_item(), full_item(tokens=6)} == {full_item(tokens=6), full_item()}


@pytest.mark.parametrize("other", ["text", ("text", 5), None, ScoredItem(ContextItem("text", 5), 1.0)])
def test_an_item_equals_only_items(other: Any) -> None:
    assert full_item() != other


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("item", [full_item(), ContextItem("text", 1)])
def test_an_item_survives_pickling(item: ContextItem, protocol: int) -> None:
    """PY-12: in spite of its read-only mapping."""
    loaded = pickle.loads(pickle.dumps(item, protocol))
    assert loaded == item
    assert loaded is not item
    assert repr(loaded) == repr(item)
    assert type(loaded.metadata) is FrozenDict


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, dataclasses.replace])
def test_a_copy_is_equal_but_another_object(make: Any) -> None:
    """PY-12, PY-13: the pipeline tells items apart by identity."""
    item = full_item()
    copied = make(item)
    assert copied == item
    assert copied is not item
    assert type(copied) is ContextItem


def test_a_deep_copy_shares_no_metadata() -> None:
    """DM-05: a shallow copy shares the values, a deep one does not."""
    item = ContextItem("text", 1, metadata={"key": [1]})
    assert copy.copy(item).metadata["key"] is item.metadata["key"]
    assert copy.deepcopy(item).metadata["key"] is not item.metadata["key"]


def test_replace_changes_one_field_and_checks_it() -> None:
    changed = dataclasses.replace(full_item(), tokens=6)
    assert changed == full_item(tokens=6)
    with pytest.raises(InvalidItemError):
        dataclasses.replace(full_item(), content="")


# --- repr


def test_the_repr_of_a_plain_item_is_short() -> None:
    assert repr(ContextItem("it's", 5)) == 'ContextItem("it\'s", 5)'


def test_the_repr_shows_what_is_not_the_default() -> None:
    text = repr(ContextItem("text", 5, kind="Memory", pinned=True, tags=["a"]))
    assert text == "ContextItem('text', 5, kind=ContextKind('Memory'), tags=('a',), pinned=True)"


def test_the_repr_of_an_item_that_is_not_long_is_its_call() -> None:
    item = full_item(metadata={"path": "x" * 80}, timestamp=NOON.replace(second=59, microsecond=999_999))
    assert all(f"{name}=" in repr(item) for name in FIELDS[2:])
    names = {cls.__name__: cls for cls in (ContextItem, ContextKind, ContextSource)}
    assert eval(repr(item), names | {"datetime": sys.modules["datetime"]}) == item  # noqa: S307 - our own text


def test_the_repr_cuts_what_is_long_and_says_so() -> None:
    item = ContextItem("a" * 61, 10**5000, tags=["b" * 200], metadata={"c": "d" * 200})
    assert repr(item) == (
        f"ContextItem('{'a' * 60}'... (61 characters), <5001 digits>, "
        f"tags=('{'b' * 95}..., metadata={{'c': '{'d' * 90}...)"
    )
    assert repr(ContextItem("a" * 60, 1)) == f"ContextItem('{'a' * 60}', 1)"


# --- ScoredItem


@pytest.mark.proves("S-SI-01")
def test_a_scored_item_is_a_pair() -> None:
    """ScoredItem: a value type of item and score."""
    item = ContextItem("text", 1)
    scored = ScoredItem(item, 0.5)
    assert scored.item is item
    assert scored.score == 0.5
    assert scored == (item, 0.5)
    assert ScoredItem._fields == ("item", "score")


@pytest.mark.proves("S-SI-01")
@pytest.mark.parametrize("score", [-1.0, 2.0, math.inf, -math.inf, math.nan])
def test_a_score_is_not_checked(score: float) -> None:
    """DM-19: scores are conventionally in [0, 1], which the type does not enforce."""
    assert ScoredItem(ContextItem("text", 1), score).score is score


def test_a_scored_item_cannot_be_changed() -> None:
    scored: Any = ScoredItem(ContextItem("text", 1), 0.5)
    with pytest.raises(AttributeError):
        scored.score = 1.0


def test_scored_items_are_split_into_items_and_scores() -> None:
    """DM-19: a plain pair will do; numbers become floats, and nothing is validated."""
    a, b, c = (ContextItem(name, 1) for name in "abc")
    pairs = iter([ScoredItem(a, 0.5), (b, 1), [c, math.inf]])
    items, scores = split_scored(pairs)
    assert [id(item) for item in items] == [id(a), id(b), id(c)]
    assert scores == [0.5, 1.0, math.inf]
    assert all(type(score) is float for score in scores)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([ContextItem("text", 1)], "scored_items[0] must be a (item, score) pair"),
        ([(ContextItem("text", 1), 1.0), ("text", 1.0)], "scored_items[1]: item must be a ContextItem"),
        ([(ContextItem("text", 1), "1.0")], "scored_items[0]: score must be a number"),
        ([(ContextItem("text", 1), True)], "scored_items[0]: score must be a number"),
        (None, "scored_items must be an iterable of (item, score) pairs"),
    ],
)
def test_what_is_no_scored_item_is_named(pairs: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        split_scored(pairs)
    assert str(caught.value).startswith(f"{message}, not ")
