"""What the types of parts and items mean, provider by provider, and which of their fields the model reads.

A history may mix the types of several providers: LangChain's messages have OpenAI's roles and Anthropic's blocks. So
`PART_TYPES` joins the tables, and one walk reads them all; see `pycupel.messages.parts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

TEXT, THINKING, CALL, RESULT = "text", "thinking", "call", "result"
IMAGE, FILE, OTHER = "image", "file", "other"


class Prices(NamedTuple):
    """What a provider adds to the text, in tokens.

    Media have a typical price: an image as 1024 x 1024 pixels, audio as 100 seconds, a file as one page.
    """

    message: int = 3
    """For each message."""

    name: int = 0
    """For the name of a speaker, besides its text."""

    call: int = 0
    """For each tool call with its result, besides their texts."""

    reply: int = 3
    """For the start of the reply."""

    tool: int = 8
    """For the definition of a tool, besides its JSON."""

    tools: int = 0
    """For having any tools."""

    image: int = 765
    """For an image."""

    small_image: int = 85
    """For an image with low detail."""

    audio: int = 1000
    """For audio."""

    file: int = 1500
    """For a file whose text is not in the message."""

    escapes: bool = False
    """Whether the provider encodes results and arguments as JSON again, with spaces and escapes."""


class Meaning(NamedTuple):
    """What a type of part or item means."""

    kind: str
    """The kind of part that it is."""

    role: str = ""
    """Whose it is: for items, who speaks; for blocks, whose messages may have them. Empty for any."""

    ids: tuple[str, ...] = ()
    """The fields that may hold the id by which the caller's results answer calls; none if nobody has to answer."""

    needs_id: bool = False
    """Whether the provider rejects it without an id."""

    said: str = ""
    """The field of a result with what the tool said, which may be shortened; empty if it must stay as it is."""

    price: str = ""
    """The price that stands for its data: "image", "audio" or "file", or "data" for as much as is encrypted. For a
    call, "call" is added to its text.
    """

    lasting: bool = False
    """Whether it changes how everything after it is read, so that it stays, as instructions do."""

    only: str = ""
    """The provider, if no other one has the type, so that it tells whose messages these are."""


_PLAIN = Meaning(TEXT)
_THOUGHT = Meaning(THINKING)
_IMAGE, _AUDIO, _FILE = Meaning(IMAGE, price="image"), Meaning(FILE, price="audio"), Meaning(FILE, price="file")

# OpenAI Chat, and what servers with its format add; Mistral's documents and LangChain's parts.
_CHAT = {
    "text": _PLAIN,
    "reasoning": _THOUGHT,
    "image_url": _IMAGE._replace(only="openai"),
    "file": _FILE._replace(only="openai"),
    **dict.fromkeys(("audio", "input_audio"), _AUDIO),
    **dict.fromkeys(("document_url", "video", "video_url"), _FILE),
}

_RESPONSES = {
    **dict.fromkeys(("input_text", "output_text"), _PLAIN._replace(only="responses")),
    "input_image": _IMAGE._replace(only="responses"),
    "input_file": _FILE._replace(only="responses"),
    **dict.fromkeys(("computer_screenshot", "screenshot", "image_generation_call"), _IMAGE),
}

_ANTHROPIC = {
    "thinking": _THOUGHT,
    "redacted_thinking": _THOUGHT._replace(price="data", only="anthropic"),
    "tool_use": Meaning(CALL, "assistant", ("id",), needs_id=True, price="call", only="anthropic"),
    "tool_result": Meaning(RESULT, "user", ("tool_use_id",), needs_id=True, said="content", only="anthropic"),
    # The provider answers these calls itself.
    "server_tool_use": Meaning(CALL, price="call", only="anthropic"),
    "mcp_tool_use": Meaning(CALL, price="call"),
    "image": _IMAGE._replace(only="anthropic"),
    "document": _FILE._replace(only="anthropic"),
    "container_upload": _FILE,
    "search_result": _PLAIN._replace(only="anthropic"),
}

PART_TYPES: Mapping[str, Meaning] = {**_CHAT, **_RESPONSES, **_ANTHROPIC}
"""What the types of parts mean."""

TEXTS = frozenset({"text", "input_text", "output_text"})
"""The types of parts that are just a text."""

# Types that are not in the tables, by how their names end: providers name new ones as they named the old ones.
_PART_ENDS = {"tool_result": Meaning(RESULT), "tool_use": Meaning(CALL), "_call": Meaning(CALL)}

# Responses: a list of items. A call without an id is one that the provider answers itself.
_ASKED, _ANSWERED = Meaning(CALL, "assistant", ("call_id",)), Meaning(RESULT, "tool", ("call_id",), needs_id=True)
_SPOKEN, _LASTING = Meaning(OTHER, "assistant"), Meaning(OTHER, "system", lasting=True)
_ITEMS = {
    "reasoning": Meaning(THINKING, "assistant"),
    **dict.fromkeys(("function_call", "custom_tool_call", "program"), _ASKED),
    "mcp_approval_request": _ASKED._replace(ids=("id",)),
    "mcp_approval_response": _ANSWERED._replace(ids=("approval_request_id",)),
    "image_generation_call": Meaning(IMAGE, "assistant", price="image"),
    **dict.fromkeys(("function_call_output", "custom_tool_call_output"), _ANSWERED._replace(said="output")),
    "local_shell_call_output": _ANSWERED._replace(ids=("call_id", "id")),
    # If the provider searched for tools itself, the call and its result are its own and have no id.
    "tool_search_output": _ANSWERED._replace(needs_id=False),
    **dict.fromkeys(("item_reference", "mcp_list_tools"), _SPOKEN),
    **dict.fromkeys(("additional_tools", "compaction", "compaction_trigger", "configuration_update"), _LASTING),
}
_ITEM_ENDS = {"_call": _ASKED, "_output": _ANSWERED, "_response": _ANSWERED}


def part_type(kind: str) -> Meaning | None:
    """Return what a type of part means; None if it is unknown."""
    found = PART_TYPES.get(kind)
    if found is None:
        found = next((meaning for end, meaning in _PART_ENDS.items() if kind.endswith(end)), None)
    return found


def item_type(kind: str) -> Meaning | None:
    """Return what a type of item means; None if it is unknown."""
    found = _ITEMS.get(kind)
    if found is None:
        found = next((meaning for end, meaning in _ITEM_ENDS.items() if kind.endswith(end)), None)
    return found


class Field(NamedTuple):
    """How to read a field of a message or a part."""

    how: str
    """"text", "nested" for parts inside, "json" for a structure, "encrypted" for what only the provider can read."""

    kind: str | None = None
    """The kind of part that it makes of its content; None if that depends on where it is."""

    price: str = ""
    """"call" if the provider adds its price for a call."""

    ids: tuple[str, ...] = ()
    """The field with the id by which the caller's results answer calls; none if nobody has to answer."""

    said: str = ""
    """For a result that may be shortened, the field with what the tool said."""


_SERVER_CALL = Field("nested", CALL, "call")
_CALL = _SERVER_CALL._replace(ids=("id",))
# Gemini's objects and its JSON spell names differently.
FUNCTION_CALLS = ("function_call", "functionCall")
FUNCTION_RESPONSES = ("function_response", "functionResponse")
SIGNATURES = ("thought_signature", "thoughtSignature")

FIELDS: Mapping[str, Field] = {
    "title": Field("text"),
    **dict.fromkeys(("reasoning", "reasoning_content"), Field("text", THINKING)),
    **dict.fromkeys(("summary", "thinking", "content"), Field("nested")),
    **dict.fromkeys(("text", "refusal", "name", "tool_type", "toolType", "code"), Field("text")),
    **dict.fromkeys(("arguments", "args", "input", "response", "tools"), Field("json")),
    **dict.fromkeys(("action", "actions", "operation", "queries"), Field("json")),
    **dict.fromkeys(("parts", "output", "outputs"), Field("nested")),
    **dict.fromkeys(("logs", "stdout", "stderr", "result", "reason"), Field("text")),
    **dict.fromkeys(("tool_calls", "invalid_tool_calls"), _CALL),
    **dict.fromkeys(("function", "custom"), Field("nested")),
    **dict.fromkeys(FUNCTION_CALLS, _CALL),
    **dict.fromkeys(FUNCTION_RESPONSES, Field("nested", RESULT, ids=("id",), said="response")),
    **dict.fromkeys(("executable_code", "executableCode"), Field("nested", CALL)),
    **dict.fromkeys(("code_execution_result", "codeExecutionResult"), Field("nested", RESULT)),
    **dict.fromkeys(("tool_call", "toolCall"), _SERVER_CALL),
    **dict.fromkeys(("tool_response", "toolResponse"), Field("nested", RESULT)),
    "signature": Field("encrypted"),
    **dict.fromkeys(SIGNATURES, Field("encrypted", THINKING)),
    "encrypted_content": Field("encrypted"),
}
"""The fields of messages and parts that the model sees, in the order of the text."""

RANKS: Mapping[str, int] = {name: rank for rank, name in enumerate(FIELDS)}

CALL_LISTS = ("tool_calls", "invalid_tool_calls")
"""The fields with lists of calls."""

ARGUMENTS = ("arguments", "input", "args", "action")
"""The fields with the arguments of a call; the first that is there has them."""

REPEATED_CALLS = frozenset({"tool_use", "tool_call", "function_call", "custom_tool_call"})
"""The parts in which LangChain repeats calls that are also beside the content."""

RETURNED = ("output", "result", "content", "text", "error")
"""The keys under which Gemini's functions return a text; the first with a text has it."""

DATA = ("inline_data", "file_data", "inlineData", "fileData")
"""The fields with data of Gemini's parts, which have a MIME type instead of a type."""

DETAILED = "image_url"
"""The field of OpenAI's images that may have their detail inside."""

CACHE_CONTROL = "cache_control"
"""The field of blocks that Anthropic is asked to cache up to there."""

TOOL_MESSAGE = Meaning(RESULT, "tool", ("tool_call_id",), needs_id=True, said="content")
"""What a message means that is a result as a whole."""

TOOL_ROLES = frozenset({"tool", "function"})
"""The roles of such messages."""

LANGCHAIN_ROLES: Mapping[str, str] = {
    "system": "system",
    "SystemMessageChunk": "system",
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "ToolMessageChunk": "tool",
    "function": "function",
    "FunctionMessageChunk": "function",
}
"""The roles of LangChain's messages, which have a type instead; its chunks have their class name."""
