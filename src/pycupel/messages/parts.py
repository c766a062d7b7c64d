"""The one walk: a message of any provider becomes parts, with what each says, costs and belongs to.

    {"role": "assistant", "content": [{"type": "text", "text": "Let me see."},
                                      {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py"}}]}

becomes a text, and a call of `read` with its id, its arguments and the path `("content", 1)`. The text of a message,
its tokens, its calls and results, and where its tokens go are derived from its parts.

Messages are read by the names of their fields, whoever made them; `pycupel.messages.providers` says what they mean.
Encoded data is never counted by its length, because no provider counts it that way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from pycupel.fields import (
    ContentError,
    as_data,
    as_json,
    attribute,
    field,
    filled,
    is_filled,
    is_list,
    is_mapping,
    rewritten,
    text_of,
)
from pycupel.kernels.order import maker
from pycupel.messages.providers._tables import (
    ARGUMENTS,
    CALL,
    CALL_LISTS,
    DATA,
    DETAILED,
    FIELDS,
    FILE,
    IMAGE,
    LANGCHAIN_ROLES,
    OTHER,
    PART_TYPES,
    RANKS,
    READ,
    REPEATED_CALLS,
    RESULT,
    RETURNED,
    SIDE,
    SOURCED,
    TEXT,
    TEXTS,
    THINKING,
    TOOL,
    TOOL_MESSAGE,
    TOOL_ROLES,
    UNKNOWN,
    Field,
    Meaning,
    Prices,
    item_type,
)
from pycupel.text import describe

Path: TypeAlias = tuple[str | int, ...]
"""Where in a message a part is: names of fields and numbers in lists."""

# Encrypted reasoning has about eight characters per token.
_ENCRYPTED_CHARACTERS = 8
# Encoded data in a part of an unknown type; what is shorter costs less as a text than as a file.
_ENCODED = re.compile(r"[\w+/=-]{1000,}", re.ASCII)
_MEDIA, _WHOLE = frozenset({"image", "audio", "file"}), frozenset({THINKING, CALL, RESULT})
# Prices of parts whose fields are not read one by one.
_AS_A_WHOLE = frozenset({"json", "tool", "content", "nothing"})
_DATA, _DATA_AND_SIDE = frozenset({*DATA, *SOURCED}), frozenset({*DATA, *SOURCED, *SIDE})
_CONTENT, _PARTS = ("content",), ("parts",)
# A tuple, because what a message has for a role need not be hashable.
_TOOL_ROLES = tuple(TOOL_ROLES)


class Part(NamedTuple):
    """A part of a message."""

    kind: str
    """"text", "thinking", "call", "result", "image", "file", "tool" for a definition, "unknown" for what is of no known
    type, or "other" for what has only a price.
    """

    text: str
    """What the model reads of it."""

    tokens: int
    """What it costs."""

    id: Any = None
    """For a call that the caller answers, and its result: the id, as it is in the message."""

    tool: str = ""
    """The name of the tool that is called; with a result, if the message names it. Of an unknown part, its type."""

    arguments: Any = None
    """The arguments of a call: JSON text or a structure. Of an unknown part, whether its type is a role or a field."""

    failed: bool = False
    """Whether a result is marked as an error."""

    path: Path = ()
    """Where in the message it is."""

    said: str | None = None
    """What the tool itself said, if that may be shortened. Gemini's results are objects, whose text has more."""

    beside: int = 0
    """The tokens of what a result has beside that: images, files and other parts."""


class MessageView(NamedTuple):
    """A message of any provider: who speaks, its parts, and marks for the rules of the provider.

    `message_index` is the index of the message; -1 for what is sent beside the messages. `role` is "system", "user",
    "assistant" or "tool"; a user message with only tool results is "tool". The rest is derived from the parts: `text`
    is everything readable, `tokens` the cost of the whole message, `calls` and `results` the ids of what the caller
    answers. A message with results never opens a turn, even if it also has text of the user. `reasoning` says that the
    message starts with reasoning for what follows.
    """

    message_index: int
    role: str
    text: str
    tokens: int
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    opens_turn: bool = False
    reasoning: bool = False
    marks: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()


make_part, make_view = maker(Part), maker(MessageView)


def view_of(index: int, role: str, parts: Sequence[Part], overhead: int, marks: tuple[str, ...] = ()) -> MessageView:
    """Derive a view from the parts of a message, to which the provider adds `overhead` tokens."""
    if len(parts) == 1:
        # Most messages have one part, and joining and adding up would take twice as long.
        kind, text, tokens, called, *_ = parts[0]
        ids = () if called is None else (called,)
        calls, results = (ids, ()) if kind == CALL else ((), ids)
        is_thought = kind == THINKING
        is_unknown = kind == UNKNOWN
    else:
        text = "\n".join([part.text for part in parts if part.text])
        tokens = sum([part.tokens for part in parts])
        calls = tuple([part.id for part in parts if part.kind == CALL and part.id is not None])
        results = tuple([part.id for part in parts if part.kind == RESULT and part.id is not None])
        kinds = [part.kind for part in parts]
        is_unknown = UNKNOWN in kinds
        # What is unknown says nothing about what follows it.
        known = [kind for kind in kinds if kind != UNKNOWN] if is_unknown else kinds
        is_thought = known[:1] == [THINKING]
    if is_unknown:
        marks = (*marks, UNKNOWN)
    opens_turn = role == "user" and not results
    return make_view(
        (index, role, text, overhead + tokens, calls, results, opens_turn, is_thought, marks, tuple(parts))
    )


class PartReader:
    """Walks messages for one provider and one counter: each node is looked at once.

    A text, an image or a file is a part of its own. A call, a result or reasoning is one part, whatever is inside; only
    its images and files are parts of their own, which follow it.

    Attributes:
        count: Counts the tokens of a text.
        prices: What the provider adds.
        overhead: What it adds to each message.
    """

    __slots__ = ("_media", "_parts", "count", "overhead", "prices")

    def __init__(self, count: Callable[[str], int], prices: Prices) -> None:
        self.count = count
        self.prices = prices
        self.overhead = prices.message
        self._parts: list[Part] = []
        # The images and files of the part that is being read.
        self._media: list[Part] = []

    def __call__(self, message: Any) -> list[Part]:
        """Return the parts of a message, or of anything that may stand for one, such as blocks or a text."""
        self._parts, self._media = [], []
        # Most messages are a role and a text, blocks or parts.
        is_short = message.__class__ is dict and len(message) == 2 and message.get("role", "tool") not in _TOOL_ROLES
        place = _CONTENT if is_short and "content" in message else _PARTS
        content = message.get(*place) if is_short else None
        try:
            if content.__class__ is str or content.__class__ is list:
                self._speak(content, place)
            elif is_tool_message(message):
                self._whole(message, TOOL_MESSAGE, ())
            else:
                self._speak(message, ())
        except RecursionError as error:
            raise ContentError("is nested too deeply", "content", message) from error
        except ContentError as error:
            error.source = message
            raise
        return self._parts

    def _add(self, kind: str, texts: list[str], price: int, path: Path, own: Any = None, *more: Any) -> None:
        text = texts[0] if len(texts) == 1 else "\n".join(filter(None, texts))
        tokens = price + sum(map(self.count, texts))
        tool, arguments, failed, said, beside = more or ("", None, False, None, 0)
        self._parts.append(make_part((kind, text, tokens, own, tool, arguments, failed, path, said, beside)))

    def unknown(self, node: Any, name: str, what: str = "type", path: Path = ()) -> Part:
        """Make a part of something of an unknown type, role or field: its JSON, with encoded data as files."""
        text, files = _ENCODED.subn("", _json(dict(node) if is_mapping(node) else node, "content"))
        tokens = self.count(text) + self.prices.file * files
        return make_part((UNKNOWN, text, tokens, None, name, what, False, path, None, 0))

    def _speak(self, node: Any, path: Path) -> None:
        """Add the parts of a node whose texts are its speaker's."""
        is_dict = node.__class__ is dict
        if not is_dict and isinstance(node, str):
            self._add(TEXT, [node], 0, path)
        elif not is_dict and (node.__class__ is list or is_list(node)):
            for n, each in enumerate(node):
                self._speak(each, (*path, n))
        else:
            kind = node.get("type") if is_dict else field(node, "type")
            kind = kind if isinstance(kind, str) else None
            text: Any = node.get("text") if is_dict else None
            if text.__class__ is str and len(node) == (1 if kind is None else 2 if kind in TEXTS else 0):
                # Most parts are plain texts; Gemini's have no type.
                self._add(TEXT, [text], 0, path)
                return
            # Only a message as a whole can be an item; inside, `function_call` and others are LangChain's parts.
            meaning = None if kind is None else (None if path else item_type(kind)) or PART_TYPES.get(kind)
            if meaning is not None and meaning.kind in _WHOLE:
                self._whole(node, meaning, path)
            elif path and (kind is not None if meaning is None else meaning.price in _AS_A_WHOLE):
                self._speak_whole(node, kind or "", meaning, path)
            else:
                self._speak_other(node, kind, meaning, path)

    def _speak_whole(self, node: Any, kind: str, meaning: Meaning | None, path: Path) -> None:
        """Add a part that is not read field by field: of an unknown type, priced by its JSON, or free."""
        if meaning is None:
            self._parts.append(self.unknown(node, kind, "field" if field(node, "type") is None else "type", path))
        elif meaning.price == "tool":
            definition = field(field(node, "tool"), "definition")
            text = _json(field(node, "tool") if definition is None else definition, "tool")
            price = 0 if definition is None else self.prices.tool
            self._add(TOOL, [text], price, path, None, kind, node, False, None, 0)
        elif meaning.price == "content":
            self._add(TEXT, [_text(field(node, "content"))], 0, path)
        elif meaning.price == "json":
            self._parts.append(self.unknown(node, "", path=path)._replace(kind=OTHER, arguments=None))

    def _speak_other(self, node: Any, kind: str | None, meaning: Meaning | None, path: Path) -> None:
        """Add the parts of a message, an image, a file, or a part without a type."""
        if not path and field(node, "role") is not None:
            # A message is neither a file nor a thought, whatever fields it has.
            self._speak_fields(node, path)
        elif kind is None and field(node, "thought") is True:
            # Gemini's thoughts are texts with a mark.
            self._whole(node, PART_TYPES[THINKING], path)
        elif not self._is_medium(node, kind, meaning, path, self._parts):
            text = _text_of_file(node, meaning)
            name = _unknown_field(node) if kind is None and path not in ((), _CONTENT) else ""
            if text is not None:
                self._speak(text, path)
            elif name:
                self._speak_whole(node, name, None, path)
            else:
                self._speak_fields(node, path)

    def _speak_fields(self, node: Any, path: Path) -> None:
        members = _members(node)
        for name in _known(members):
            value, how, here = members[name], FIELDS[name], (*path, name)
            if name in CALL_LISTS:
                for n, call in enumerate(value if is_list(value) else ()):
                    self._whole(call, how, (*here, n))
            elif how.kind in _WHOLE and how.how == "nested":
                self._whole(value, how, here)
            elif how.how != "nested":
                texts: list[str] = []
                price = self._field(name, members, texts)
                if texts or price:
                    self._add(how.kind or (TEXT if texts else OTHER), texts, price, here)
            elif name == "content" and is_list(value) and filled(members, *CALL_LISTS) is not None:
                # LangChain keeps the calls of some providers here, and again beside it.
                for n, each in enumerate(value):
                    if text_of(each, "type") not in REPEATED_CALLS:
                        self._speak(each, (*here, n))
            else:
                self._speak(value, here)

    def _whole(self, node: Any, meaning: Meaning | Field, path: Path) -> None:
        """Add a call, a result or reasoning as one part, and its images and files after it."""
        texts: list[str] = []
        get = _getter(node)
        if meaning.price == "data":
            price = _encrypted(get("data"), "data")
        elif node.__class__ is not dict and (isinstance(node, str) or is_list(node)):
            price = self._gather(node, texts, path)
        else:
            price = self._gather_fields(node, texts, path)
        tool, arguments, failed, said, beside = "", None, False, None, 0
        if meaning.kind == CALL:
            price += self.prices.call if meaning.price else 0
            tool, arguments = _called(node, meaning)
        elif meaning.kind == RESULT:
            tool = _text(get("name"))
            if meaning.said:
                failed, said, beside = self._said(get, meaning.said)
        own = None
        for name in meaning.ids:
            own = get(name) if own is None else own
        self._add(meaning.kind or OTHER, texts, price, path, own, tool, arguments, failed, said, beside)
        if self._media:
            # They count as images and files even inside a result, and go with it when its text is replaced.
            self._parts += self._media
            self._media = []

    def _said(self, get: Callable[[str], Any], name: str) -> tuple[bool, str, int]:
        """Return whether a result is an error, what the tool said, and the tokens of everything else."""
        value = get(name)
        if name == "response":
            is_error = is_mapping(value) and value.get("error") is not None
            return is_error, returned_text(value)[1], sum([each.tokens for each in self._media])
        is_error = get("is_error") is True or _text(get("status")) == "error"
        if isinstance(value, str):
            return is_error, value, 0
        if name == "result" and value is not None and not _are_parts(value):
            return is_error, as_json(value), 0
        said: list[str] = []
        beside = 0
        for piece in value if is_list(value) else [value]:
            text = piece if isinstance(piece, str) else field(piece, "text")
            if text is None and field(piece, "json") is not None:
                text = as_json(field(piece, "json"))
            if isinstance(text, str):
                said.append(text)
            elif piece is not None:
                # Read again for its price alone, so what it adds to the media is not kept.
                texts: list[str] = []
                media, self._media = self._media, []
                beside += self._gather(piece, texts, (*_CONTENT, 0)) + sum(map(self.count, texts))
                beside += sum([each.tokens for each in self._media])
                self._media = media
        return is_error, "\n".join(filter(None, said)), beside

    def _gather(self, node: Any, texts: list[str], path: Path) -> int:
        """Append all texts inside a call, a result or reasoning, and return the price of everything else in it."""
        if isinstance(node, str):
            texts.append(node)
            return 0
        is_dict = node.__class__ is dict
        if not is_dict and is_list(node):
            return sum([self._gather(each, texts, (*path, n)) for n, each in enumerate(node)])
        kind = node.get("type") if is_dict else field(node, "type")
        kind = kind if isinstance(kind, str) else None
        if kind in TEXTS and is_dict and len(node) == 2 and node.get("text").__class__ is str:
            texts.append(node["text"])
            return 0
        meaning = None if kind is None else PART_TYPES.get(kind)
        if self._is_medium(node, kind, meaning, path, self._media):
            return 0
        # Converse's blocks have no type inside results either.
        name = _unknown_field(node) if kind is None and path[-2:-1] in (_CONTENT, _PARTS) else kind
        if name and (meaning is None or meaning.price in _AS_A_WHOLE):
            # It follows the part that it is in, as images do.
            before, self._parts = self._parts, self._media
            self._speak_whole(node, name, meaning, path)
            self._parts = before
            return 0
        text = _text_of_file(node, meaning)
        return self._gather_fields(node, texts, path) if text is None else self._gather(text, texts, path)

    def _gather_fields(self, node: Any, texts: list[str], path: Path) -> int:
        members = _members(node)
        total = 0
        if self.prices.rewrites_json and is_filled(field(node, "tool_call_id")):
            total = self._escapes(members.get("content"))
        for name in _known(members):
            value = members[name]
            if name == "result" and not isinstance(value, str) and not _are_parts(value):
                # Interactions' functions and tools return a text, parts, or any structure.
                texts.append(_json(value, name))
            elif FIELDS[name].how != "nested":
                total += self._field(name, members, texts)
            elif value.__class__ is str:
                texts.append(value)
            else:
                total += self._gather(value, texts, (*path, name))
        return total

    def _field(self, name: str, members: Mapping[str, Any], texts: list[str]) -> int:
        """Append the text of a field without parts inside, and return the price of everything else in it."""
        how, value = FIELDS[name].how, members[name]
        if how == "encrypted":
            return _encrypted(value, name)
        if how == "json":
            texts.append(_json(value, name))
            return self._escapes(value) if self.prices.rewrites_json and name == "arguments" else 0
        has_content = members.get("content") is not None
        if name == "text" and not isinstance(value, str):
            # The text of a guarded part is inside, and a configuration has the format of texts.
            inner, form = field(value, "text"), field(value, "format")
            texts += [inner] if isinstance(inner, str) else [] if form is None else [_json(form, name)]
        if how == "images":
            return self.prices.image * (len(value) if is_list(value) else 1)
        if not isinstance(value, str) or (name == "text" and has_content):
            # Some libraries' messages have their text twice, as content and as text.
            return 0
        if name == "name" and has_content:
            # The name of the speaker costs tokens, but is not part of the text.
            return self.prices.name + self.count(value)
        texts.append(value)
        return 0

    def _escapes(self, value: Any) -> int:
        """Count the tokens added by encoding a text as JSON again."""
        if not isinstance(value, str):
            return 0
        return max(0, self.count(rewritten(value)) - self.count(value))

    def _is_medium(self, node: Any, kind: str | None, meaning: Meaning | None, path: Path, into: list[Part]) -> bool:
        """Add a node that is an image or a file with a typical price; say whether it is one."""
        price = _price_of_data(node) if kind is None else "" if meaning is None else meaning.price
        if price not in _MEDIA or (price == "file" and _text_of_file(node, meaning) is not None):
            return False
        tokens: int = getattr(self.prices, price)
        if price == "image" and "low" in (text_of(node, "detail"), text_of(field(node, DETAILED), "detail")):
            tokens = self.prices.small_image
        into.append(make_part((IMAGE if price == "image" else FILE, "", tokens, None, "", None, False, path, None, 0)))
        return True


def _are_parts(value: Any) -> bool:
    return is_list(value) and all(text_of(each, "type") for each in value)


def is_tool_message(message: Any) -> bool:
    """Whether a message is a result as a whole. Messages with parts are Gemini's, whatever their roles."""
    role = text_of(message, "role") or LANGCHAIN_ROLES.get(text_of(message, "type"))
    return role in TOOL_ROLES and field(message, "parts") is None


def _getter(node: Any) -> Callable[[str], Any]:
    """Return a function that reads fields of a node. Most are dicts, which need none of `field`'s checks."""
    return node.get if node.__class__ is dict else partial(field, node)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _members(node: Any) -> Mapping[str, Any]:
    if node.__class__ is dict or is_mapping(node):
        return node
    members = as_data(node, READ)
    return members if members.__class__ is dict else {name: attribute(node, name) for name in FIELDS}


def _known(members: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields that the model sees, in the order of the text."""
    names = [name for name in members if name in RANKS and members[name] is not None]
    if len(names) > 1:
        names.sort(key=RANKS.__getitem__)
    return names


def _unknown_field(node: Any) -> str:
    """Return the field that has the data of a part without a type, if no known field has any; else an empty text."""
    members: Mapping[str, Any] = node if is_mapping(node) else getattr(node, "__dict__", {})
    names = [name for name, value in members.items() if value is not None]
    if any(name in FIELDS or name in _DATA_AND_SIDE for name in names):
        return ""
    return str(names[0]) if names else ""


def _called(call: Any, meaning: Meaning | Field) -> tuple[str, Any]:
    """Return the name of the tool that a call is for, and its arguments."""
    if meaning.ids == ("id",) and isinstance(meaning, Field):
        # OpenAI's calls have them inside.
        inner = filled(call, "function", "custom")
        call = call if inner is None else inner
    get = _getter(call)
    arguments = None
    for name in ARGUMENTS:
        arguments = get(name) if arguments is None else arguments
    # The items of Responses that have no name are named by their type.
    return _text(get("name")) or ("" if meaning.ids == ("id",) else _text(get("type"))), arguments


def _price_of_data(node: Any) -> str:
    """Return what stands for the data of a part without a type; empty if it has none.

    Gemini's have a MIME type, and Converse's are named by their field.
    """
    if node.__class__ is dict and node.keys().isdisjoint(_DATA):
        return ""
    for name, price in SOURCED.items():
        if field(field(node, name), "source") is not None:
            return price
    data = next((each for each in [field(node, name) for name in DATA] if each is not None), None)
    if data is None:
        return ""
    kind = (text_of(data, "mime_type") or text_of(data, "mimeType")).partition("/")[0]
    return kind if kind in ("image", "audio") else "file"


def _text_of_file(node: Any, meaning: Meaning | None) -> list[Any] | None:
    """Return the title and text of a file that has its text in the message; it costs as much as its text."""
    if meaning is None:
        document = field(node, "document")
        source = field(document, "source")
        text = field(source, "text") if field(source, "content") is None else field(source, "content")
        return None if text is None else [text_of(document, "name"), text]
    if meaning.price != "file":
        return None
    source = field(node, "source")
    text = field(source, "data" if text_of(source, "type") == "text" else "content")
    return None if text is None else [text_of(node, "title"), text]


def _encrypted(value: Any, key: str) -> int:
    if value is None:
        return 0
    if isinstance(value, (str, bytes)):
        return len(value) // _ENCRYPTED_CHARACTERS
    raise ContentError(f"must be a string, not {describe(value)}", key)


def _json(value: Any, key: str) -> str:
    try:
        return as_json(value)
    except Exception as error:
        raise ContentError(f"cannot be written as JSON: {describe(value)}", key) from error


def returned_text(value: Any) -> tuple[str | None, str]:
    """Return the key and text that a Gemini function returned; without one, the whole value as JSON."""
    if is_mapping(value):
        for key in RETURNED:
            if isinstance(value.get(key), str):
                return key, value[key]
    return None, as_json(value)
