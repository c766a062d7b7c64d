"""The linter: finds what a provider would reject in a history, as far as the history shows it.

    row  rule                    severity  for          what the provider requires
    1 4  orphan-tool-result      error     all          a result follows the message that makes its call
    2 4  unanswered-tool-call    error     all          every call is answered before anything else follows
    2 4  open-tool-call          warning   all          calls at the end are answered before the history is sent
    8    duplicate-id            error     all          an id belongs to one call, which has one result
    3    reasoning-without-item  error     responses    reasoning is followed by the item that it led to
    4    text-before-result      error     anthropic    tool results stand at the start of their message
    4    split-results           warning   anthropic    the results of parallel calls are in one message
    5    first-not-user          error     ant gem mis  the user speaks first (Mistral: no call comes first)
    5    empty-text              error     anthropic    no text is empty or whitespace only
                                 warning   others       no text is empty (some models and servers reject it)
    *    empty-message           error     oai gem mis  a message has a content, parts or calls
    *    empty-calls             warning   openai       tool_calls is not an empty list (some servers accept it)
    *    empty-result            warning   openai       a tool result has a content (some servers do without)
    *    odd-arguments           warning   openai       the arguments of a call are a string (some servers take dicts)
    *    odd-input               warning   anthropic    the input of a call is an object (some libraries parse JSON)
    7    empty-part              error     gemini       a part holds data
    *    excess-cache-control    error     anthropic    no more than four blocks have cache_control
    5    system-first            warning   anthropic    the first system prompt is a parameter of the request
    5 8  system-misplaced        error     ant mis      Anthropic: between a user message and its answer, or at the
                                                        end; Mistral: at the start, or after a user message
    6    unsigned-thinking       error     anthropic    thinking blocks keep their signature
    6    thinking-not-first      warning   anthropic    with thinking, the last turn starts with a thinking block
    7    call-after-model        error     gemini       a call follows a user message or results
    8    prefix-not-last         error     mistral      a message with prefix=True is the last one
    8    odd-id                  warning   mistral      ids of calls are nine letters and digits (older models)
    8    odd-name                warning   mistral      functions are named with 1 to 64 letters, digits, _ and -
    *    duplicate-tool          error     ant gem      tools have different names (with `tools=`)
                                 warning   others
    *    missing-tools           warning   anthropic    a history with calls needs definitions (with `tools=`)
    5-8  ends-with-assistant     warning   ant gem mis  the last message is the user's or a tool's
    *    trailing-space          warning   anthropic    a text of the assistant at the end does not end with whitespace

Rows 1 and 2 are OpenAI's: the results are in the messages directly after the call (autogen#3178, litellm#10696). Row 3
is that of Responses, where they may come anywhere after it (vercel/ai#7099, continue#8933); a lost reasoning
item cannot be detected. Rows 4 to 6 are Anthropic's: results in the next message, ids used just once in a history
(claude-code#8612, #28515, anthropic-sdk-typescript#653), texts and the positions of system messages (claude-code#23440,
#73821), thinking (n8n#22550). Row 7 is Gemini's: all the results in the next message (gemini-cli#11814,
langchain#27799, python-genai#529). Row 8 is Mistral's, as the validator of mistral-common has it: OpenAI's, with a
stricter order. Rows with a star quote the APIs: "[] is too short - 'messages.0.content'", "Invalid
'messages[1].tool_calls': empty array" (openai-python#2061), "A maximum of 4 blocks with cache_control may be provided",
"Tool names must be unique" (claude-code#10687), "Invalid value for 'content': expected a string, got null"
(llama_index#17555), "Invalid type for 'messages[2].tool_calls[0].function.arguments': expected a string, but got an
object instead" (goose-mobile#20) and "Missing required parameter" for the same field (mcphost#117),
"tool_use.input: Input should be a valid dictionary" (anthropic-sdk-typescript#648), "final assistant content cannot end
with trailing whitespace" (crewAI#4413), and that requests with calls must define tools (anthropic-sdk-python#494;
Bedrock still says so).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from pycupel.messages.counting import checked_beside, view_beside
from pycupel.messages.detect import resolve_provider
from pycupel.messages.fields import filled, text_of
from pycupel.messages.options import ProviderName, checked_list
from pycupel.messages.providers._base import BESIDE, Finding, Severity
from pycupel.text import quoted

__all__ = ["Finding", "lint_messages"]


def lint_messages(
    messages: Iterable[Any],
    provider: ProviderName = "auto",
    *,
    model: str | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
) -> list[Finding]:
    """Find everything in a chat history that the provider would reject, in order of the messages.

    Args:
        messages: The history: dicts or the SDK's objects, which are not changed.
        provider: openai, responses, anthropic, gemini or mistral; auto detects it.
        model: The model's name, which helps "auto" to tell apart providers whose messages look alike.
        system: The system prompt that is sent beside the messages: a text, blocks, or Gemini's `system_instruction`.
        tools: The definitions of tools that are sent beside the messages; an empty list if there are none.

    Returns:
        The findings. Those about the system prompt and the tools come first, with the index -1.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidArgumentError: the provider is unknown.
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
    """
    history = checked_list("messages", messages)
    known = resolve_provider(history, provider, model)
    views = known.read(history)
    definitions = checked_beside(system, tools)
    findings = [
        *_duplicate_tools(definitions, known.duplicate_tools),
        *known.check(views, [view_beside(system, definitions)]),
    ]
    for rule in known.beside_rules:
        findings += rule(system, None if tools is None else definitions, views)
    return sorted(findings, key=lambda finding: finding.index)


def _duplicate_tools(definitions: Iterable[Any], severity: Severity) -> Iterator[Finding]:
    names = (text_of(each, "name") or text_of(filled(each, "function", "custom"), "name") for each in definitions)
    for name, number in Counter(filter(None, names)).items():
        if number > 1:
            yield Finding(
                BESIDE,
                "duplicate-tool",
                f"the tool {quoted(name)} is defined more than once",
                "Rename the tool, or remove the duplicate definitions.",
                severity,
            )
