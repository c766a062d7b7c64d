"""Recall: shortened results that name a handle, the tool that asks for it, and the function that answers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pycupel.errors import InvalidArgumentError
from pycupel.messages import MessageSelection, Shorten, recall, recall_tool, select_messages
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.parts import Part
from pycupel.messages.providers import PROVIDERS
from pycupel.messages.tool_results import Result, with_handle
from pycupel.shorten import ToolCall
from pycupel.wire import dumps, loads
from tests.messages import test_shortening as shared

HANDLE = re.compile(r'(recall_result|get_back)\(\\*"(\w+)\\*"\)')


def exchange(provider: str, number: int, result: str) -> list[Any]:
    call_id, arguments = f"call{number:05d}", {"path": f"log_{number}.txt"}
    if provider == "converse":
        call = {"toolUse": {"toolUseId": call_id, "name": "read_file", "input": arguments}}
        answer = {"toolResult": {"toolUseId": call_id, "content": [{"text": result}]}}
        return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]
    if provider == "interactions":
        return [
            {"type": "function_call", "id": call_id, "name": "read_file", "arguments": arguments},
            {"type": "function_result", "call_id": call_id, "name": "read_file", "result": result},
        ]
    return shared.exchange(provider, number, result)


def history(provider: str, results: int) -> list[Any]:
    first: Any = {"role": "user", "content": [{"text": "What do the logs say?"}]}
    if provider == "interactions":
        first = {"type": "user_input", "content": [{"type": "text", "text": "What do the logs say?"}]}
    elif provider != "converse":
        first = shared.question(provider, "What do the logs say?")
    return [first, *(each for n in range(results) for each in exchange(provider, n, shared.log(n)))]


def select(messages: list[Any], budget: int, provider: Any, shorten: Any) -> MessageSelection:
    return select_messages(messages, budget, provider=provider, counter=shared.quarter, shorten=shorten)


# --- round trips


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("budget", [2_000, 4_000])
def test_every_handle_gives_the_original_back(provider: ResolvedProviderName, budget: int) -> None:
    messages = history(provider, 20)
    selection = select(messages, budget, provider, Shorten(recall=True))
    handles = [found[2] for found in HANDLE.finditer(json.dumps(selection.messages))]
    assert len(handles) == len(selection.shortened) >= 2
    originals = {shared.log(n) for n in range(20)}
    for handle in handles:
        assert recall(messages, handle, provider=provider) in originals
        assert selection.recall(handle) == recall(messages, handle)
    assert len({selection.recall(handle) for handle in handles}) == len(handles)


@pytest.mark.parametrize("shorten", ["results", Shorten(), Shorten(recall=False)])
def test_without_recall_nothing_names_a_handle(shorten: Any) -> None:
    selection = select(history("openai", 20), 2_000, "openai", shorten)
    assert selection.shortened
    assert "recall" not in json.dumps(selection.messages)


def test_the_tool_may_have_another_name() -> None:
    selection = select(history("anthropic", 20), 2_000, "anthropic", Shorten(recall="get_back"))
    assert {found[1] for found in HANDLE.finditer(json.dumps(selection.messages))} == {"get_back"}


def test_a_stub_names_the_call_and_the_handle() -> None:
    again = json.loads(json.dumps(exchange("openai", 0, shared.log(0))).replace("call00000", "call00500"))
    newer = [each for n in range(5, 9) for each in exchange("openai", n, "x" * 900)]
    messages = [*history("openai", 4), *again, *newer]
    selection = select(messages, 2_400, "openai", Shorten(recall=True))
    stubs = [text for text in shared.texts_of(selection).values() if text.startswith("[result left out")]
    assert stubs[0].endswith(', read_file log_0.txt; recall_result("call00000")]')


def test_an_extract_ends_with_the_handle() -> None:
    selection = select(history("openai", 8), 2_400, "openai", Shorten(recall=True))
    extracts = [text for text in shared.texts_of(selection).values() if "setting_0" in text]
    assert extracts[0].endswith('\n[the whole result: recall_result("call00000")]')


def test_what_grows_keeps_its_handles() -> None:
    """A cut that is made again for a longer history has to give the same texts."""
    messages = history("openai", 20)
    # The id of the first call occurs again.
    again = exchange("openai", 0, shared.log(77))
    before = select(messages, 3_000, "openai", Shorten(recall=True))
    after = select([*messages, *again], 3_000, "openai", Shorten(recall=True))
    texts = shared.texts_of(after)
    assert {n: text for n, text in shared.texts_of(before).items() if n in texts}.items() <= texts.items()


def test_an_id_that_occurs_twice_is_the_first_and_the_other_has_a_hash() -> None:
    messages = [*history("openai", 1), *exchange("openai", 0, "the second result")]
    assert recall(messages, "call00000") == shared.log(0)
    with pytest.raises(InvalidArgumentError) as caught:
        recall(messages, "call9")
    found = re.search(r"(r[0-9a-f]{8}) \(read_file log_0\.txt\)", str(caught.value))
    assert found is not None
    assert recall(messages, found[1]) == "the second result"


def test_an_unknown_id_is_an_error_that_says_what_there_is() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        recall(history("openai", 2), "toolu_9")
    assert str(caught.value) == (
        "no result has the id 'toolu_9'; the newest ones are call00000 (read_file log_0.txt), "
        "call00001 (read_file log_1.txt)"
    )
    assert (caught.value.argument, caught.value.value) == ("id", "toolu_9")
    with pytest.raises(InvalidArgumentError, match="no result has the id 'a'; there are none"):
        recall([{"role": "user", "content": "Hi"}], "a")


@pytest.mark.parametrize("id", [5, None, ["a"], b"a"])
def test_an_id_of_the_wrong_type(id: Any) -> None:  # noqa: A002 - as in `recall`
    """Even if there is nothing to compare it with."""
    with pytest.raises(TypeError, match="id must be a str"):
        recall([{"role": "user", "content": "Go."}], id, provider="openai")


def test_a_stored_selection_says_to_use_the_function() -> None:
    selection = select(history("openai", 20), 2_000, "openai", Shorten(recall=True))
    with pytest.raises(InvalidArgumentError, match=r"use pycupel\.messages\.recall\(messages, id\)"):
        loads(MessageSelection, dumps(selection)).recall("call00000")


# --- parts of a result

LONG = [*history("openai", 0), *exchange("openai", 0, "".join(f"line {n} of Many\n" for n in range(1, 901)))]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"lines": "2-3"}, "line 2 of Many\nline 3 of Many"),
        ({"lines": "1-2"}, "line 1 of Many\nline 2 of Many"),
        ({"lines": " 7 "}, "line 7 of Many"),
        ({"lines": "900 - 2000"}, "line 900 of Many"),
        ({"lines": "899-"}, "line 899 of Many\nline 900 of Many"),
        ({"match": "LINE 77 "}, "77: line 77 of Many"),
        ({"match": "many", "lines": "5-6"}, "5: line 5 of Many\n6: line 6 of Many"),
        ({"match": "nowhere"}, "[no line contains 'nowhere']"),
    ],
)
def test_lines_and_words(asked: dict[str, str], text: str) -> None:
    assert recall(LONG, "call00000", **asked) == text  # type: ignore[arg-type]


@pytest.mark.parametrize("lines", ["", "x", "0", "0-4", "9-3", "901", "-5", "1-2-3", "1" * 5_000])
def test_what_are_no_lines(lines: str) -> None:
    with pytest.raises(InvalidArgumentError, match='lines must be a range such as "200-260" within the 900 lines'):
        recall(LONG, "call00000", lines=lines)


def test_at_most_a_quarter_of_the_window() -> None:
    selection = select(LONG, 40_000, "openai", Shorten(recall=True))
    assert selection.recall("call00000") == recall(LONG, "call00000")
    small = select(LONG, 4_000, "openai", Shorten(recall=True))
    part = small.recall("call00000")
    assert shared.quarter(part) <= 1_000 + 20
    *lines, left = part.splitlines()
    assert left == f'[lines {len(lines) + 1}-900 are left; ask for them with lines="{len(lines) + 1}-900" or match]'
    rest = small.recall("call00000", lines=f"{len(lines) + 1}-900")
    assert rest.startswith(f"line {len(lines) + 1} of Many\n")


def test_one_long_line_is_cut_inside() -> None:
    messages = [*history("openai", 0), *exchange("openai", 0, "x" * 300_000)]
    part = select(messages, 4_000, "openai", Shorten(recall=True)).recall("call00000")
    first, left = part.splitlines()
    assert 3_000 <= len(first) <= 4_004
    assert left == f"[{300_000 - len(first):,} more characters of line 1 are left; ask for others with match]"


def test_a_word_in_one_long_line_is_shown_with_what_is_around_it() -> None:
    """Another range of lines would begin at the start of the line again."""
    records = ",".join(f'{{"id":{n}}}' for n in range(30_000))
    messages = [*history("openai", 0), *exchange("openai", 0, f"[{records}]\nThe end.")]
    selection = select(messages, 4_000, "openai", Shorten(recall=True))
    part, left = selection.recall("call00000", match='"ID":20000}').splitlines()
    assert len(part) <= 4_000
    assert 1_500 <= part.index('{"id":20000}') <= 2_500
    assert left.endswith(" more characters of line 1 are left; ask for others with match]")
    _, left = selection.recall("call00000").splitlines()
    assert left.endswith('; ask for others with match, and for what follows with lines="2-2"]')
    assert selection.recall("call00000", lines="2-2") == "The end."


# --- JSON stays JSON


def result(handle: str = "a1") -> Result:
    return Result(0, (0, 0), Part("result", "", 0), ToolCall("read", {}), handle)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("[]", [{"...": 'the whole result: recall_result("a1")'}]),
        ("[1, 2]\n", [1, 2, {"...": 'the whole result: recall_result("a1")'}]),
        ("{}", {"...": 'the whole result: recall_result("a1")'}),
        ('{"a": 1}', {"a": 1, "...": 'the whole result: recall_result("a1")'}),
        (
            '{"a": 1, "...": "3 more keys"}',
            {"a": 1, "...": "3 more keys", "....": 'the whole result: recall_result("a1")'},
        ),
        ('"a\\n"', 'a\n [the whole result: recall_result("a1")]'),
        ("[" + "7" * 6_000 + "]", None),
    ],
)
def test_json_stays_json(text: str, marked: Any) -> None:
    made = with_handle(text, result(), "recall_result")
    read = json.loads(made, parse_int=str if marked is None else int)
    assert read == marked or read[1:] == [{"...": 'the whole result: recall_result("a1")'}]
    assert with_handle(made, result(), "recall_result") == made


def test_lines_of_json_stay_lines_of_json() -> None:
    made = with_handle('{"a": 1}\n{"a": 2}\n', result(), "recall_result")
    assert [json.loads(line) for line in made.splitlines()][:2] == [{"a": 1}, {"a": 2}]
    number, handle = map(json.loads, with_handle("12", result(), "recall_result").splitlines())
    assert (number, handle) == (12, {"...": 'the whole result: recall_result("a1")'})
    assert with_handle("[" * 100_000, result(), "recall_result").endswith('\n[the whole result: recall_result("a1")]')


# --- the tool and the options


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_tool_has_the_shape_of_the_provider(provider: ResolvedProviderName) -> None:
    tool = recall_tool(provider, "get_back")
    text = json.dumps(tool)
    assert '"name": "get_back"' in text
    assert '"required": ["id"]' in text
    messages = history(provider, 2)
    plain = select_messages(messages, 10_000, provider=provider, counter=len)
    assert select_messages(messages, 10_000, provider=provider, counter=len, tools=[tool]).usage.tools > 0
    assert plain.usage.tools == 0


def test_the_shapes() -> None:
    schema = recall_tool("anthropic")["input_schema"]
    assert list(schema["properties"]) == ["id", "lines", "match"]
    assert all({*each} == {"type", "description"} for each in schema["properties"].values())
    assert recall_tool()["function"]["parameters"] == schema
    assert recall_tool("mistral") == recall_tool("openai")
    assert recall_tool("responses")["strict"] is False
    assert recall_tool("gemini")["function_declarations"][0]["name"] == "recall_result"
    assert recall_tool("converse")["toolSpec"]["inputSchema"]["json"] == schema
    assert recall_tool("interactions")["type"] == "function"
    with pytest.raises(InvalidArgumentError, match="provider"):
        recall_tool("auto")  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"keep": -1}, {"recall": ""}, {"shortener": "result"}])
def test_invalid_options(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        Shorten(**options)


@pytest.mark.parametrize(
    "options", [{"keep": "1"}, {"exclude": "read"}, {"exclude": [3]}, {"shortener": 3}, {"recall": None}, {"recall": 1}]
)
def test_options_of_the_wrong_type(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Shorten(**options)


def test_an_agent_that_recalls() -> None:
    """A loop as in the documentation: the model asks for a result that was left out, and gets it."""
    messages = history("openai", 30)
    selection = select(messages, 2_400, "openai", Shorten(recall=True))
    (name, handle), *_ = [found.groups() for found in HANDLE.finditer(json.dumps(selection.messages))]
    call = {"id": "ask", "type": "function", "function": {"name": name, "arguments": json.dumps({"id": handle})}}
    messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
    answer = selection.recall(**json.loads(call["function"]["arguments"]))  # type: ignore[index]
    messages.append({"role": "tool", "tool_call_id": "ask", "content": answer})
    after = select(messages, 2_400, "openai", Shorten(recall=True))
    # It is one of the newest results, which stay whole.
    assert after.messages[-1]["content"] == answer
    assert answer in {shared.log(n) for n in range(30)}
