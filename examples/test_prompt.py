"""A check of the context in CI: ``pytest examples/test_prompt.py``.

The fixture ``cupel_report`` comes with pycupel's pytest plug-in. A failing assertion prints what was selected.
"""

from pycupel import ContextItem
from pycupel.messages import select_messages
from pycupel.testing import ReportRunner

ITEMS = [
    ContextItem("You answer questions about our shop.", 8, kind="SystemPrompt", pinned=True),
    ContextItem("Refunds take five days.", 6, kind="Document", future_relevance_hint=0.9),
    ContextItem("Our office has a garden.", 6, kind="Document", future_relevance_hint=0.1),
    ContextItem("How long does a refund take?", 8, kind="Message", pinned=True),
]


def test_the_question_and_the_best_document_are_in_the_prompt(cupel_report: ReportRunner) -> None:
    report = cupel_report(ITEMS, 22, "rag")
    report.should().include_item_matching(lambda included: "five days" in included.item.content)
    report.should().place_item_last(lambda included: included.item.kind == "Message")
    report.should().have_no_exclusions_for_kind("SystemPrompt")


def test_a_long_conversation_keeps_its_last_question() -> None:
    history = [{"role": "user", "content": f"Question {n}: " + "word " * 50} for n in range(100)]
    selection = select_messages(history, 1_000, counter="estimator")
    assert selection.messages[-1] is history[-1]
    assert selection.total_tokens <= 1_000
