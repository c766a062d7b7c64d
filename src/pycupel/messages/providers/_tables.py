"""What the types of parts and items mean, provider by provider, and which of their fields the model reads.

A history may mix the types of several providers: LangChain's messages have OpenAI's roles and Anthropic's blocks. So
`PART_TYPES` joins the tables, and one walk reads them all; see `pycupel.messages.parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

TEXT, THINKING, CALL, RESULT = "text", "thinking", "call", "result"
IMAGE, FILE, TOOL, OTHER, UNKNOWN = "image", "file", "tool", "other", "unknown"


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

    rewrites_json: bool = False
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
    """The price that stands for its data: "image", "audio" or "file", or "data" for as much as is encrypted; "json" if
    it is priced as its JSON, "tool" as the definition of a tool, "content" by its text alone, "nothing" if the model
    never sees it. For a call, "call" is added to its text.
    """

    lasting: bool = False
    """Whether it changes how everything after it is read, so that it stays, as instructions do."""

    only: str = ""
    """The provider, if no other one has the type, so that it tells whose messages these are."""


_PLAIN = Meaning(TEXT)
_THOUGHT = Meaning(THINKING)
_IMAGE, _AUDIO, _FILE = Meaning(IMAGE, price="image"), Meaning(FILE, price="audio"), Meaning(FILE, price="file")
# Read by the names of its fields, like a message; or all of it, because what the model sees of it is not known.
_READ, _JSON = Meaning(OTHER), Meaning(OTHER, price="json")
# The provider answers these calls itself.
_SERVER_USE, _SERVER_RESULT = Meaning(CALL, price="call"), Meaning(RESULT)

# OpenAI Chat, and what servers with its format add.
_CHAT = {
    "text": _PLAIN,
    "refusal": _PLAIN,
    "reasoning": _THOUGHT,
    "image_url": _IMAGE._replace(only="openai"),
    "file": _FILE._replace(only="openai"),
    **dict.fromkeys(("audio", "input_audio"), _AUDIO),
    **dict.fromkeys(("document_url", "video", "video_url"), _FILE),
}

# Mistral's chunks and MCP's content.
_CHUNKS = dict.fromkeys(("reference", "tool_reference", "resource", "resource_link"), _JSON)

# LangChain's parts. It repeats calls that are beside the content.
_LANGCHAIN = {
    "text-plain": _PLAIN,
    **dict.fromkeys(("tool_call", "tool_call_chunk", "function_call", "custom_tool_call"), Meaning(CALL)),
    **dict.fromkeys(("invalid_tool_call", "server_tool_call", "server_tool_call_chunk"), Meaning(CALL)),
    "server_tool_result": _SERVER_RESULT,
    "non_standard": _JSON,
}

_RESPONSES = {
    **dict.fromkeys(("input_text", "output_text"), _PLAIN._replace(only="responses")),
    "input_image": _IMAGE._replace(only="responses"),
    "input_file": _FILE._replace(only="responses"),
    **dict.fromkeys(("computer_screenshot", "screenshot", "image_generation_call"), _IMAGE),
    **dict.fromkeys(("summary_text", "reasoning_text", "logs", "encrypted_content"), _READ),
}

_SERVER_TOOLS = (
    *("advisor", "bash_code_execution", "code_execution", "text_editor_code_execution", "tool_search", "web_fetch"),
    "web_search",
)
_ANTHROPIC = {
    "thinking": _THOUGHT,
    "redacted_thinking": _THOUGHT._replace(price="data", only="anthropic"),
    "tool_use": Meaning(CALL, "assistant", ("id",), needs_id=True, price="call", only="anthropic"),
    "tool_result": Meaning(RESULT, "user", ("tool_use_id",), needs_id=True, said="content", only="anthropic"),
    "server_tool_use": _SERVER_USE._replace(only="anthropic"),
    "mcp_tool_use": _SERVER_USE._replace(only="anthropic"),
    **{f"{name}_tool_result": _SERVER_RESULT._replace(only="anthropic") for name in (*_SERVER_TOOLS, "mcp")},
    "image": _IMAGE._replace(only="anthropic"),
    "document": _FILE._replace(only="anthropic"),
    "container_upload": _FILE._replace(only="anthropic"),
    "search_result": _PLAIN._replace(only="anthropic"),
    # What the results of its tools hold.
    **dict.fromkeys(
        (
            *("advisor_result", "advisor_redacted_result", "web_fetch_result", "web_search_result"),
            *("code_execution_result", "encrypted_code_execution_result", "code_execution_output"),
            *("bash_code_execution_result", "bash_code_execution_output"),
            *(f"text_editor_code_execution_{name}_result" for name in ("create", "str_replace", "view")),
        ),
        _READ,
    ),
    **dict.fromkeys([f"{name}_tool_result_error" for name in _SERVER_TOOLS], _JSON),
    **dict.fromkeys(("tool_search_tool_search_result", "browser_state"), _JSON),
    "mcp_tool_listing": _READ._replace(only="anthropic"),
    # Tools that are there from now on, until they are removed.
    "tool_addition": Meaning(TOOL, "system", price="tool", lasting=True, only="anthropic"),
    "tool_removal": Meaning(TOOL, "system", price="tool", lasting=True, only="anthropic"),
    **dict.fromkeys(("tool_definition", "mcp_tool_reference", "mcp_toolset_reference"), _JSON),
    # The provider does not count its signature, nor what is encrypted in it.
    "compaction": Meaning(TEXT, "assistant", price="content", only="anthropic"),
    # Where another model took over, which the model is not told.
    "fallback": Meaning(OTHER, price="nothing", only="anthropic"),
}

PART_TYPES: Mapping[str, Meaning] = {**_CHAT, **_CHUNKS, **_LANGCHAIN, **_RESPONSES, **_ANTHROPIC}
"""What the types of parts mean. A type that is not here is unknown: it is kept, and priced as its JSON."""

TEXTS = frozenset({"text", "input_text", "output_text"})
"""The types of parts that are just a text."""

# Responses: a list of items. A call without an id is one that the provider answers itself.
_ASKED = Meaning(CALL, "assistant", ("call_id",), price="call")
_ANSWERED = Meaning(RESULT, "tool", ("call_id",), needs_id=True)
_SPOKEN, _LASTING = Meaning(OTHER, "assistant"), Meaning(OTHER, "system", lasting=True)
ITEM_TYPES: Mapping[str, Meaning] = {
    "reasoning": Meaning(THINKING, "assistant"),
    **dict.fromkeys(("function_call", "custom_tool_call", "program"), _ASKED),
    **dict.fromkeys(("computer_call", "local_shell_call", "shell_call", "apply_patch_call"), _ASKED),
    **dict.fromkeys(("web_search_call", "file_search_call", "code_interpreter_call", "mcp_call"), _ASKED),
    **dict.fromkeys(("tool_search_call", "multi_agent_call"), _ASKED),
    "mcp_approval_request": _ASKED._replace(ids=("id",)),
    "mcp_approval_response": _ANSWERED._replace(ids=("approval_request_id",)),
    "image_generation_call": Meaning(IMAGE, "assistant", price="image"),
    # It may name its function instead of the call.
    "function_call_output": _ANSWERED._replace(said="output", needs_id=False),
    "custom_tool_call_output": _ANSWERED._replace(said="output"),
    "local_shell_call_output": _ANSWERED._replace(ids=("call_id", "id")),
    **dict.fromkeys(("computer_call_output", "shell_call_output", "apply_patch_call_output"), _ANSWERED),
    **dict.fromkeys(("program_output", "multi_agent_call_output"), _ANSWERED),
    # If the provider searched for tools itself, the call and its result are its own and have no id.
    "tool_search_output": _ANSWERED._replace(needs_id=False),
    **dict.fromkeys(("item_reference", "mcp_list_tools", "agent_message"), _SPOKEN),
    **dict.fromkeys(("additional_tools", "compaction", "configuration_update"), _LASTING),
    # It asks for a compaction, and has to be the last item of its request.
    "compaction_trigger": _LASTING._replace(lasting=False),
}
"""What the items of Responses mean, except messages."""


# Gemini's Interactions: a list of steps. Only functions are the caller's.
STEP_TYPES: Mapping[str, Meaning] = {
    "user_input": Meaning(TEXT, "user"),
    "model_output": Meaning(TEXT, "assistant"),
    "thought": Meaning(THINKING, "assistant"),
    "function_call": Meaning(CALL, "assistant", ("id",), needs_id=True, price="call"),
    "function_result": Meaning(RESULT, "tool", ("call_id",), needs_id=True, said="result"),
    **{
        f"{name}_{step}": meaning
        for name in (
            *("code_execution", "file_search", "google_maps", "google_search", "mcp_server_tool", "processing"),
            *("retrieval", "url_context"),
        )
        for step, meaning in (
            ("call", Meaning(CALL, "assistant", price="call")),
            ("result", Meaning(RESULT, "assistant")),
        )
    },
}
"""What the steps of Interactions mean."""

# Where the two have the same name, Responses' items are meant; `providers.interactions` corrects what differs.
_ITEMS_AND_STEPS = {**STEP_TYPES, **ITEM_TYPES}


def item_type(kind: str) -> Meaning | None:
    """Return what a type of item or step means; None if it is unknown."""
    return _ITEMS_AND_STEPS.get(kind)


class Field(NamedTuple):
    """How to read a field of a message or a part."""

    how: str
    """"text", "nested" for parts inside, "json" for a structure, "encrypted" for what only the provider can read,
    "images" for encoded images.
    """

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
    "summary": Field("nested"),
    # Ollama's messages have their thoughts here.
    "thinking": Field("nested", THINKING),
    "content": Field("nested"),
    **dict.fromkeys(("text", "refusal", "name", "tool_type", "toolType", "code"), Field("text")),
    **dict.fromkeys(("arguments", "args", "input", "response", "tools"), Field("json")),
    **dict.fromkeys(("action", "actions", "operation", "queries"), Field("json")),
    **dict.fromkeys(("parts", "output", "outputs"), Field("nested")),
    "results": Field("nested"),
    "result": Field("nested"),
    **dict.fromkeys(("logs", "stdout", "stderr", "reason"), Field("text")),
    "images": Field("images", IMAGE),
    **dict.fromkeys(("tool_calls", "invalid_tool_calls"), _CALL),
    **dict.fromkeys(("function", "custom"), Field("nested")),
    **dict.fromkeys(FUNCTION_CALLS, _CALL),
    **dict.fromkeys(FUNCTION_RESPONSES, Field("nested", RESULT, ids=("id",), said="response")),
    **dict.fromkeys(("executable_code", "executableCode"), Field("nested", CALL)),
    **dict.fromkeys(("code_execution_result", "codeExecutionResult"), Field("nested", RESULT)),
    **dict.fromkeys(("tool_call", "toolCall"), _SERVER_CALL),
    **dict.fromkeys(("tool_response", "toolResponse"), Field("nested", RESULT)),
    # Converse's blocks, which have no type.
    "toolUse": _SERVER_CALL._replace(ids=("toolUseId",)),
    "toolResult": Field("nested", RESULT, ids=("toolUseId",), said="content"),
    "reasoningContent": Field("nested", THINKING),
    **dict.fromkeys(("reasoningText", "guardContent", "citationsContent", "searchResult"), Field("nested")),
    **dict.fromkeys(("json", "toolAddition", "toolRemoval"), Field("json")),
    "redactedContent": Field("encrypted"),
    "signature": Field("encrypted"),
    **dict.fromkeys(SIGNATURES, Field("encrypted", THINKING)),
    **dict.fromkeys(("encrypted_content", "encrypted_stdout"), Field("encrypted")),
}
"""The fields of messages and parts that the model sees, in the order of the text."""

READ = frozenset({*FIELDS, "role", "type"})
"""What is read of an object, even if it is not a field of its class."""

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

CACHE_POINT = "cachePoint"
"""The field of Converse's blocks that are nothing but a mark: cache up to here."""

SOURCED: Mapping[str, str] = {"image": "image", "audio": "audio", "document": "file", "video": "file"}
"""The fields with data of Converse's blocks, whose data is in `source`, and the price that stands for it."""

SIDE = frozenset(
    {
        CACHE_POINT,
        *("thought", *SIGNATURES, "video_metadata", "videoMetadata", "media_resolution", "mediaResolution"),
        *("part_metadata", "partMetadata", "audio_transcription", "audioTranscription"),
        *("media_processing", "mediaProcessing", "speech_metadata", "speechMetadata"),
    }
)
"""The fields of parts without a type that describe data, but are not data: Gemini's, and Converse's mark."""

DETAILED = "image_url"
"""The field of OpenAI's images that may have their detail inside."""

CACHE_CONTROL = "cache_control"
"""The field of blocks that Anthropic is asked to cache up to there."""

SYSTEM_OPTIONS = ("clear_at", "output_config")
"""The fields that only Anthropic's system messages have."""

TOOL_MESSAGE = Meaning(RESULT, "tool", ("tool_call_id",), needs_id=True, said="content")
"""What a message means that is a result as a whole."""

TOOL_ROLES = frozenset({"tool", "function"})
"""The roles of such messages."""

ROLES = frozenset({"system", "developer", "user", "assistant", "model", *TOOL_ROLES})
"""The roles that any provider has. Another one is unknown, and counts as the assistant."""

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


def known_fields() -> frozenset[str]:
    """Return the fields that tell what a part is, of providers whose parts have no type."""
    return frozenset({*FIELDS, *DATA, *SOURCED, *SIDE})


# How each provider wants a text of the user.
USER_MESSAGES: Mapping[str, Callable[[str], dict[str, Any]]] = {
    **dict.fromkeys(("openai", "mistral", "responses", "anthropic"), lambda text: {"role": "user", "content": text}),
    "gemini": lambda text: {"role": "user", "parts": [{"text": text}]},
    "converse": lambda text: {"role": "user", "content": [{"text": text}]},
    "interactions": lambda text: {"type": "user_input", "content": [{"type": "text", "text": text}]},
}

# How a compaction block stands in the messages of the providers that have one.
COMPACTION_MESSAGES: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "anthropic": lambda block: {"role": "assistant", "content": [block]},
    "responses": lambda block: block,
}

# How each provider wants the definition of a tool, made from its name, description and parameters.
TOOL_SHAPES: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    **dict.fromkeys(("openai", "mistral"), lambda tool: {"type": "function", "function": tool}),
    # Strict schemas, the default there, have no optional properties.
    "responses": lambda tool: {"type": "function", **tool, "strict": False},
    "interactions": lambda tool: {"type": "function", **tool},
    "gemini": lambda tool: {"function_declarations": [tool]},
    "anthropic": lambda tool: {"input_schema" if key == "parameters" else key: tool[key] for key in tool},
    "converse": lambda tool: {
        "toolSpec": {
            "name": tool["name"],
            "description": tool["description"],
            "inputSchema": {"json": tool["parameters"]},
        }
    },
}
