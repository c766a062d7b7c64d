"""What a new user's first calls select: the best item stays, and the order is the one that people expect."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pycupel import (
    ContextItem,
    ContextKind,
    Pipeline,
    Policy,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    UShapedPlacer,
    policies,
    select,
)
from pycupel.pipeline.policy import PresetName

CHATS: list[PresetName] = ["chat", "tool-use", "debugging", "long-running"]
HITS: list[PresetName] = ["rag", "document-qa", "code-review"]


@pytest.mark.parametrize("name", CHATS)
def test_the_newest_message_stays_although_it_is_long(name: PresetName) -> None:
    small_talk = [ContextItem(f"small talk {i}", 10) for i in range(30)]
    trace = ContextItem("Traceback (most recent call last): ...", 250)
    assert select([*small_talk, trace], 300, name).items == [*small_talk[-5:], trace]
    upstream = policies.preset(name, upstream=True)
    assert trace not in select([*small_talk, trace], 300, upstream).items


@pytest.mark.parametrize("name", HITS)
def test_the_best_hit_stays_although_it_is_long(name: PresetName) -> None:
    best = ContextItem("the answer", 120, kind="Document", future_relevance_hint=0.95)
    junk = [ContextItem(f"junk {i}", 10, kind="Document", future_relevance_hint=0.15) for i in range(10)]
    for items in ([best, *junk], [*junk, best]):
        assert select(items, 120, name).items == [best]
    assert best not in select([best, *junk], 120, policies.preset("rag", upstream=True)).items


@pytest.mark.parametrize("name", HITS)
@pytest.mark.parametrize(("worse", "better"), [(3.1, 27.4), (-9.0, -0.4), (-0.2, 0.7), (0.2, 0.7), (0.9, 1.2)])
def test_hints_of_any_scale_order_as_their_numbers_do(name: PresetName, worse: float, better: float) -> None:
    items = [ContextItem(f"hint {hint}", 10, kind="Document", future_relevance_hint=hint) for hint in (worse, better)]
    assert select(items, 10, name).items == [items[1]]
    assert select(items[::-1], 10, name).items == [items[1]]


def test_the_specification_clamps_hints() -> None:
    """What the presets of the .NET implementation do, and why ours do not: 3.1 and 27.4 are the same to them."""
    items = [ContextItem(f"hint {hint}", 10, kind="Document", future_relevance_hint=hint) for hint in (3.1, 27.4)]
    assert select(items, 10, policies.preset("rag", upstream=True)).items == [items[0]]


@pytest.mark.parametrize(
    ("candidate", "hint"),
    [
        ({"role": "user", "content": "a"}, "For chat messages, use pycupel.messages.select_messages."),
        (5, None),
        (None, None),
    ],
)
def test_something_other_than_an_item_gets_a_hint(candidate: Any, hint: str | None) -> None:
    with pytest.raises(TypeError, match=r"^items\[0\] must be an item or a document, not ") as caught:
        select([candidate], 50)
    assert getattr(caught.value, "__notes__", []) == ([] if hint is None else [hint])


@pytest.mark.parametrize(
    ("candidate", "hint"),
    [
        ({"role": "user", "content": "a"}, "For chat messages, use pycupel.messages.select_messages."),
        ({"content": "a", "tokens": 1}, "pycupel.wire.from_dict(ContextItem, data) makes an item from a dict."),
        ("a", "pycupel.tokens.item(text) makes an item from a text, and counts its tokens."),
        (5, None),
    ],
)
def test_a_pipeline_takes_only_items(candidate: Any, hint: str | None) -> None:
    with pytest.raises(TypeError, match=r"^items\[0\] must be a ContextItem, not ") as caught:
        Pipeline.from_policy("chat").run([candidate], 50)
    assert getattr(caught.value, "__notes__", []) == ([] if hint is None else [hint])


README = [
    ContextItem("You are a helpful assistant.", 6, kind="SystemPrompt", pinned=True),
    ContextItem("How do I reset my password?", 8, timestamp=datetime(2026, 1, 5, 9, 30, tzinfo=UTC)),
    ContextItem("Passwords are reset under Settings.", 7, kind="Document", source="Rag"),
    ContextItem("Our offices are closed on Sundays.", 7, kind="Document", source="Rag"),
]


@pytest.mark.parametrize("name", [*CHATS, "code-review"])
def test_a_chat_is_system_prompt_document_question(name: PresetName) -> None:
    prompt, question, document, _ = README
    assert select(README, 21, name).items == [prompt, document, question]
    assert select(README, 21, name, query=question.content).items == [prompt, document, question]


@pytest.mark.parametrize("name", policies.PRESETS)
def test_the_system_prompt_leads_whatever_its_timestamp(name: PresetName) -> None:
    late = ContextItem("rules", 6, kind="SystemPrompt", timestamp=datetime(2027, 1, 1, tzinfo=UTC))
    assert select([*README[1:], late], 100, name).items[0] is late


@pytest.mark.parametrize("name", HITS[:2])
def test_documents_have_their_best_at_the_edges(name: PresetName) -> None:
    hits = [ContextItem(str(i), 10, kind="Document", future_relevance_hint=1 - i / 10) for i in range(5)]
    placed = select([README[0], *hits], 100, name).items
    assert placed[0] is README[0]
    inner = Pipeline(ReflexiveScorer(), placer=UShapedPlacer()).run(hits, 100)
    assert placed[1:] == inner == [hits[0], hits[2], hits[4], hits[3], hits[1]]


def test_quotas_starve_by_the_letter_and_not_when_redistributing() -> None:
    """Shares go by the tokens of the kinds: 200 of 5,200 are 38 for the messages, although memories use only 300."""
    messages = [ContextItem(f"message {i}", 10, future_relevance_hint=0.9) for i in range(20)]
    memories = [ContextItem(f"memory {i}", 100, kind="Memory", future_relevance_hint=0.5) for i in range(50)]

    def selected(slicer: QuotaSlice) -> tuple[int, int, tuple[str, ...]]:
        result = select([*messages, *memories], 1_000, Policy(ReflexiveScorer(), slicer))
        return len(result.items), sum(item.kind == ContextKind.MESSAGE for item in result.items), result.notes

    entries = [QuotaEntry("Memory", cap=30)]
    note = (
        "670 of 1000 tokens stay unused, although 17 excluded items would fit: the share of kind 'Message' was 38 "
        "tokens; use QuotaSlice(..., redistribute=True)"
    )
    assert selected(QuotaSlice(entries)) == (6, 3, (note,))
    assert selected(QuotaSlice(entries, redistribute=True)) == (23, 20, ())
