"""The linter: everything in a history that its provider would refuse, as far as that can be seen without sending it.

    row  rule                    severity  for          what the provider wants
    1 4  orphan-tool-result      error     all          a result follows the message that makes its call
    2 4  unanswered-tool-call    error     all          every call is answered before anything else follows
    2 4  open-tool-call          warning   all          calls at the end are answered before the history is sent
    8    duplicate-id            error     all          an id belongs to one call, which has one result
    3    reasoning-without-item  error     responses    reasoning is followed by the item that it led to
    4    text-before-result      error     anthropic    tool results stand at the start of their message
    4    split-results           warning   anthropic    the results of parallel calls are in one message
    5    first-not-user          error     ant gem mis  the user speaks first (Mistral: no call comes first)
    5    empty-text              error     anthropic    texts are more than white space
    5    system-first            warning   anthropic    the first system prompt is a parameter of the request
    5 8  system-misplaced        error     ant mis      Anthropic: between a user message and its answer, or at the
                                                        end; Mistral: at the start, or behind a user message
    6    unsigned-thinking       error     anthropic    thinking blocks keep their signature
    6    thinking-not-first      warning   anthropic    with thinking, the last turn starts with a thinking block
    7    call-after-model        error     gemini       a call follows a user message or results
    8    prefix-not-last         error     mistral      a message with prefix=True is the last one
    5-8  ends-with-assistant     warning   ant gem mis  the last message is the user's or a tool's

Rows 1 and 2 are OpenAI's: the results stand in the messages right behind the call (autogen#3178, litellm#10696). Row 3
is that of Responses, where they may stand anywhere behind it (vercel/ai#7099, continue#8933); that an item has lost its
reasoning cannot be seen. Rows 4 to 6 are Anthropic's: results in the next message, ids used just once in a history
(claude-code#8612, #28515, anthropic-sdk-typescript#653), texts and the places of system messages (claude-code#23440,
#73821), thinking (n8n#22550). Row 7 is Gemini's: all the results in the next message (gemini-cli#11814,
langchain#27799, python-genai#529). Row 8 is Mistral's, as the validator of mistral-common has it: OpenAI's, with a
stricter order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pycupel.messages.detect import AUTO, resolve_provider
from pycupel.messages.providers import provider_named
from pycupel.messages.providers._base import Finding
from pycupel.messages.shapes import checked_messages

__all__ = ["Finding", "lint_messages"]


def lint_messages(messages: Iterable[Any], provider: str = AUTO) -> list[Finding]:
    """What the provider would refuse, in order of the messages. The messages are only read.

    Raises:
        MessageShapeError: a message is not written the way of the provider.
        ProviderAmbiguousError: the provider is "auto", and there are the marks of more than one.
    """
    history = checked_messages(messages)
    rules = provider_named(resolve_provider(history, provider))
    views = rules.read(history)
    findings = rules.pair(views).findings
    for rule in rules.rules:
        findings += rule(views)
    return sorted(findings, key=lambda finding: finding.index)
