"""`ContextKind` and `ContextSource`. Data model: Enumerations."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from pycupel import ContextItem, ContextKind, ContextSource, CupelError, OverflowStrategy, ScarcityBehavior
from pycupel.errors import InvalidItemError

Name = type[ContextKind] | type[ContextSource]

BOTH = pytest.mark.parametrize("cls", [ContextKind, ContextSource])


@pytest.mark.proves("S-EN-02")
@pytest.mark.parametrize(
    ("constant", "value"),
    [
        (ContextKind.MESSAGE, "Message"),
        (ContextKind.DOCUMENT, "Document"),
        (ContextKind.TOOL_OUTPUT, "ToolOutput"),
        (ContextKind.MEMORY, "Memory"),
        (ContextKind.SYSTEM_PROMPT, "SystemPrompt"),
    ],
)
def test_the_five_well_known_kinds(constant: ContextKind, value: str) -> None:
    """Enumerations, ContextKind: well-known values."""
    assert type(constant) is ContextKind
    assert constant.value == value


@pytest.mark.proves("S-EN-07")
@pytest.mark.parametrize(
    ("constant", "value"),
    [(ContextSource.CHAT, "Chat"), (ContextSource.TOOL, "Tool"), (ContextSource.RAG, "Rag")],
)
def test_the_three_well_known_sources(constant: ContextSource, value: str) -> None:
    """Enumerations, ContextSource: well-known values."""
    assert type(constant) is ContextSource
    assert constant.value == value


@pytest.mark.parametrize(
    ("cls", "names"),
    [
        (ContextKind, {"MESSAGE", "DOCUMENT", "TOOL_OUTPUT", "MEMORY", "SYSTEM_PROMPT"}),
        (ContextSource, {"CHAT", "TOOL", "RAG"}),
    ],
)
def test_there_are_no_other_constants(cls: Name, names: set[str]) -> None:
    """TV-08: there is no wildcard kind."""
    assert {name for name in dir(cls) if name.isupper()} == names


@pytest.mark.proves("S-EN-01", "S-EN-06")
@BOTH
@pytest.mark.parametrize("value", ["Invoice", "any", "x", "日本語", "with space", "a\nb", "🙂"])
def test_arbitrary_strings_are_names(cls: Name, value: str) -> None:
    """Enumerations: implementations MUST support arbitrary values."""
    assert cls(value).value == value


@pytest.mark.proves("S-EN-03", "S-EN-08")
@BOTH
@pytest.mark.parametrize("spelling", ["Message", "message", "MESSAGE", "mEsSaGe"])
def test_case_does_not_matter(cls: Name, spelling: str) -> None:
    """Enumerations: comparison MUST be case-insensitive using ASCII case folding."""
    assert cls(spelling) == cls("Message")
    assert hash(cls(spelling)) == hash(cls("Message"))
    assert not cls(spelling) != cls("Message")  # noqa: SIM202 - the operator itself


@pytest.mark.proves("S-EN-03", "S-EN-08")
@BOTH
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("É", "é"),
        ("İ", "i"),
        ("ß", "SS"),
        ("ß", "ẞ"),
        ("\N{LATIN SMALL LETTER LONG S}", "s"),
        ("\N{KELVIN SIGN}", "k"),
        ("Ω", "ω"),
        ("\N{LATIN SMALL LIGATURE FI}", "fi"),
        ("é", "e\N{COMBINING ACUTE ACCENT}"),
    ],
)
def test_characters_outside_ascii_never_fold(cls: Name, one: str, other: str) -> None:
    """DM-09: only A to Z fold, and nothing is normalised."""
    assert cls(one) != cls(other)
    assert cls(one) != other


@BOTH
def test_the_ascii_letters_of_a_mixed_name_fold(cls: Name) -> None:
    """DM-09: only A to Z fold."""
    assert cls("CAFÉ") == cls("cafÉ")
    assert cls("CAFÉ") != cls("café")


@BOTH
def test_the_spelling_is_kept(cls: Name) -> None:
    """DM-10: equality folds, the spelling stays."""
    name = cls("ToolOutput")
    assert str(name) == "ToolOutput"
    assert name.value == "ToolOutput"
    assert f"{name}" == "ToolOutput"


@BOTH
def test_the_key_is_the_folded_name(cls: Name) -> None:
    """DM-10: `.key` is for dicts and sets."""
    assert cls("ToolOutput É").key == "tooloutput É"


@BOTH
def test_an_item_keeps_the_spelling_that_it_was_given(cls: Name) -> None:
    """DM-10: two items of one kind each keep their own spelling."""
    field = "kind" if cls is ContextKind else "source"
    upper: Any = ContextItem("x", 1, **{field: "NOTE"})  # type: ignore[arg-type]
    lower: Any = ContextItem("x", 1, **{field: "note"})  # type: ignore[arg-type]
    assert (str(getattr(upper, field)), str(getattr(lower, field))) == ("NOTE", "note")
    assert getattr(upper, field) == getattr(lower, field)


@pytest.mark.proves("S-EN-05", "S-EN-09")
@BOTH
@pytest.mark.parametrize("value", ["", " ", "\t", "\n \r\n", "\N{NO-BREAK SPACE}", "\N{IDEOGRAPHIC SPACE}"])
def test_a_blank_name_is_refused(cls: Name, value: str) -> None:
    """DM-11, DM-12: a value MUST be a non-whitespace-only string."""
    with pytest.raises(InvalidItemError) as caught:
        cls(value)
    assert str(caught.value) == f"{cls.__name__} must not be empty or blank"
    assert caught.value.value == value
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, CupelError)


@BOTH
@pytest.mark.parametrize("value", [None, 1, b"Message", ["Message"], True])
def test_a_name_is_a_string(cls: Name, value: Any) -> None:
    """DM-11: a value MUST be a non-null string; the error shows what was given."""
    with pytest.raises(TypeError) as caught:
        cls(value)
    assert str(caught.value) == f"value must be a str, not {value!r} ({type(value).__name__})"


@BOTH
def test_nothing_is_trimmed(cls: Name) -> None:
    """DM-11: " Message" is a name of its own."""
    assert cls(" Message").value == " Message"
    assert cls(" Message") != cls("Message")
    assert cls("Message ") != "Message"


@BOTH
def test_of_wraps_a_string_and_returns_a_name_as_it_is(cls: Name) -> None:
    """DM-11: a string is accepted wherever a name is expected."""
    name = cls("Note")
    assert cls.of(name) is name
    assert cls.of("nOTE") == name
    assert type(cls.of("note")) is cls


@BOTH
@pytest.mark.parametrize("text", ["Document", "document", "DOCUMENT"])
def test_a_name_equals_a_string_in_any_case_from_both_sides(cls: Name, text: str) -> None:
    """DM-10: people write `item.kind == "document"`."""
    assert cls("Document") == text
    assert text == cls("Document")
    assert cls("Document") != "Documents"
    assert "Documents" != cls("Document")  # noqa: SIM300 - the other side


@BOTH
def test_a_name_and_its_key_have_one_hash(cls: Name) -> None:
    """Equal things have equal hashes as far as a hash can fold: the folded string is found, others need `.key`."""
    assert hash(cls("Note")) == hash("note")
    assert {cls("Note")} & {cls("NOTE"), cls("other")} == {cls("note")}


@pytest.mark.parametrize("value", ["Chat", "Tool", "x"])
def test_a_kind_never_equals_a_source(value: str) -> None:
    kind: Any = ContextKind(value)
    source: Any = ContextSource(value)
    assert kind != source
    assert source != kind
    assert not kind == source  # noqa: SIM201 - the operator itself
    assert len({kind, source}) == 2


@BOTH
@pytest.mark.parametrize("other", [None, 1, b"Note", ("Note",)])
def test_a_name_equals_nothing_else(cls: Name, other: Any) -> None:
    assert cls("Note") != other
    assert not cls("Note") == other  # noqa: SIM201 - the operator itself


@BOTH
def test_a_name_leaves_the_comparison_with_strangers_to_them(cls: Name) -> None:
    class EqualToAll:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            return True

    assert cls("Note") == EqualToAll()


@BOTH
@pytest.mark.parametrize("field", ["value", "key"])
def test_a_name_cannot_be_changed(cls: Name, field: str) -> None:
    name = cls("Note")
    with pytest.raises(FrozenInstanceError):
        setattr(name, field, "other")
    with pytest.raises(FrozenInstanceError):
        delattr(name, field)
    assert (name.value, name.key) == ("Note", "note")


@BOTH
def test_a_name_has_no_room_for_more(cls: Name) -> None:
    name: Any = cls("Note")
    with pytest.raises((AttributeError, TypeError)):
        name.extra = 1
    assert not hasattr(name, "__dict__")


@BOTH
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_name_survives_pickling(cls: Name, protocol: int) -> None:
    """PY-12: with its spelling."""
    name = cls("NoTe")
    loaded = pickle.loads(pickle.dumps(name, protocol))
    assert type(loaded) is cls
    assert (loaded, loaded.value, loaded.key) == (name, "NoTe", "note")


@BOTH
@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_a_name_survives_copying(cls: Name, make: Any) -> None:
    """PY-12: with its spelling."""
    copied = make(cls("NoTe"))
    assert type(copied) is cls
    assert (copied.value, copied.key) == ("NoTe", "note")


@BOTH
def test_the_repr_can_be_evaluated(cls: Name) -> None:
    name = cls("it's")
    assert repr(name) == f'{cls.__name__}("it\'s")'
    assert eval(repr(name)).value == "it's"  # noqa: S307 - our own text


@pytest.mark.proves("S-EN-10")
@pytest.mark.parametrize(
    ("enumeration", "values"),
    [
        (OverflowStrategy, {"THROW": "throw", "TRUNCATE": "truncate", "PROCEED": "proceed"}),
        (ScarcityBehavior, {"DEGRADE": "degrade", "THROW": "throw"}),
    ],
)
def test_the_closed_enumerations(enumeration: Any, values: dict[str, str]) -> None:
    """Enumerations, OverflowStrategy: a closed enumeration. WF-06: lower case."""
    assert {member.name: member.value for member in enumeration} == values
    assert all(isinstance(member, str) for member in enumeration)


@pytest.mark.parametrize("cls", [ContextKind, ContextSource])
def test_a_name_has_1000_characters_at_most(cls: type[ContextKind | ContextSource]) -> None:
    """DM-11: a limit of ours."""
    assert cls("x" * 1_000).value == cls.of("x" * 1_000).value == "x" * 1_000
    for make in (cls, cls.of):
        with pytest.raises(InvalidItemError, match=r"must not be longer than 1000 characters, but has 1001$") as caught:
            make("x" * 1_001)
        assert caught.value.argument == "value"


@pytest.mark.parametrize("cls", [ContextKind, ContextSource])
def test_only_short_names_are_remembered(
    cls: type[ContextKind | ContextSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    """DM-11: a thousand names take kilobytes, not gigabytes."""
    monkeypatch.setattr(cls, "_known", {})
    assert cls.of("r" * 64) is cls.of("r" * 64)
    assert cls.of("r" * 65) is not cls.of("r" * 65)
    assert cls.of("r" * 65) == cls.of("r" * 65)
