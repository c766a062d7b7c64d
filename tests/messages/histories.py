"""Histories of agents for Hypothesis: what applications really send, for each of the seven providers.

`histories(provider)` draws lists of dicts that the provider accepts: several system prompts (in the middle, too, where
the provider allows it), one or several turns, parallel calls with results in any order, answers between exchanges,
thoughts, pictures, empty texts, the same "continue" again and again, now and then a single turn of up to 200 exchanges,
and at the end an answer, an exchange that is still open, or a question. With `broken=True`, one to three messages are
then lost, doubled or moved, which leaves orphans, unanswered calls and duplicated ids (or, rarely, nothing wrong).

Hypothesis chooses the sizes and the features, so it can shrink them. The details come from a seed, because a draw for
each would make long histories slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from hypothesis import strategies as st

from pycupel.messages.options import ProviderName

__all__ = ["PROVIDERS", "Message", "author", "break_history", "histories"]

Message = dict[str, Any]

PROVIDERS: tuple[ProviderName, ...] = (
    *("openai", "responses", "anthropic", "gemini", "mistral", "converse", "interactions"),
)

TEXTS = ("continue", "continue", "yes", "What is in the log?", "Schreibe es größer: 漢字 🙂", "def f(): ...", "a\nb")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
NAMES = ("search", "read_file", "run")


@dataclass(frozen=True)
class Exchange:
    """Calls by id and name, the indices of those that are answered, in order, and what else is said."""

    calls: tuple[tuple[str, str], ...]
    answered: tuple[int, ...]
    text: str = ""
    thinks: bool = False
    remark: str = ""


class Writer(Protocol):
    """How a provider writes each thing. `greets` says that the assistant may speak first."""

    greets: bool
    speaks_before_calls: bool

    def system(self, text: str) -> list[Message]: ...
    def user(self, text: str, *, picture: bool) -> list[Message]: ...
    def assistant(self, text: str, *, thinks: bool) -> list[Message]: ...
    def exchange(self, exchange: Exchange) -> list[Message]: ...


class OpenAI:
    greets = True
    speaks_before_calls = True

    def system(self, text: str) -> list[Message]:
        return [{"role": "developer" if text == "yes" else "system", "content": text}]

    def user(self, text: str, *, picture: bool) -> list[Message]:
        if not picture:
            return [{"role": "user", "content": text}]
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"}}
        return [{"role": "user", "content": [{"type": "text", "text": text}, image]}]

    def assistant(self, text: str, *, thinks: bool) -> list[Message]:
        return [{"role": "assistant", "content": text}]

    def exchange(self, exchange: Exchange) -> list[Message]:
        calls = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": '{"q": 1}'}}
            for call_id, name in exchange.calls
        ]
        results = [
            {"role": "tool", "tool_call_id": exchange.calls[index][0], "content": f"result {index}"}
            for index in exchange.answered
        ]
        return [{"role": "assistant", "content": exchange.text or None, "tool_calls": calls}, *results]


class Mistral(OpenAI):
    def system(self, text: str) -> list[Message]:
        return [{"role": "system", "content": text}]

    def assistant(self, text: str, *, thinks: bool) -> list[Message]:
        if not thinks:
            return super().assistant(text, thinks=thinks)
        thought = {"type": "thinking", "thinking": "Hm.", "closed": True}
        return [{"role": "assistant", "content": [thought, {"type": "text", "text": text}]}]


class Responses:
    greets = True
    speaks_before_calls = True

    def system(self, text: str) -> list[Message]:
        return [{"role": "developer", "content": text}]

    def user(self, text: str, *, picture: bool) -> list[Message]:
        if not picture:
            return [{"role": "user", "content": text}]
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"}
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}, image]}]

    def assistant(self, text: str, *, thinks: bool) -> list[Message]:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        message = {"type": "message", "role": "assistant", "id": "msg_1", "content": content, "phase": "final_answer"}
        return [*self._reasoning(thinks=thinks), message]

    def exchange(self, exchange: Exchange) -> list[Message]:
        calls = [
            {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": "{}"}
            for call_id, name in exchange.calls
        ]
        results = [
            {"type": "function_call_output", "call_id": exchange.calls[index][0], "output": f"result {index}"}
            for index in exchange.answered
        ]
        message = [{"role": "assistant", "content": exchange.text, "phase": "commentary"}] if exchange.text else []
        return [*self._reasoning(thinks=exchange.thinks), *message, *calls, *results]

    def _reasoning(self, *, thinks: bool) -> list[Message]:
        summary = [{"type": "summary_text", "text": "Hm."}]
        return [{"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": PIXEL}] if thinks else []


class Anthropic:
    greets = False
    speaks_before_calls = True

    def system(self, text: str) -> list[Message]:
        return [{"role": "system", "content": text or "Be brief."}]

    def user(self, text: str, *, picture: bool) -> list[Message]:
        text = text or "continue"
        if not picture:
            return [{"role": "user", "content": text}]
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
        return [{"role": "user", "content": [image, {"type": "text", "text": text}]}]

    def assistant(self, text: str, *, thinks: bool) -> list[Message]:
        text_block = {"type": "text", "text": text or "Done."}
        return [{"role": "assistant", "content": [*self._thinking(thinks=thinks), text_block]}]

    def exchange(self, exchange: Exchange) -> list[Message]:
        calls = [
            {"type": "tool_use", "id": call_id, "name": name, "input": {"q": 1}} for call_id, name in exchange.calls
        ]
        said = [{"type": "text", "text": exchange.text}] if exchange.text else []
        message = {"role": "assistant", "content": [*self._thinking(thinks=exchange.thinks), *said, *calls]}
        results: list[Message] = [
            {"type": "tool_result", "tool_use_id": exchange.calls[index][0], "content": f"result {index}"}
            for index in exchange.answered
        ]
        remark = [{"type": "text", "text": exchange.remark}] if exchange.remark else []
        return [message, {"role": "user", "content": results + remark}] if results else [message]

    def _thinking(self, *, thinks: bool) -> list[Message]:
        return [{"type": "thinking", "thinking": "Hm.", "signature": PIXEL}] if thinks else []


class Gemini:
    greets = False
    speaks_before_calls = False

    def system(self, text: str) -> list[Message]:
        return []

    def user(self, text: str, *, picture: bool) -> list[Message]:
        image = [{"inline_data": {"mime_type": "image/png", "data": PIXEL}}] if picture else []
        return [{"role": "user", "parts": [{"text": text}, *image]}]

    def assistant(self, text: str, *, thinks: bool) -> list[Message]:
        return [{"role": "model", "parts": [*self._thought(thinks=thinks), {"text": text}]}]

    def exchange(self, exchange: Exchange) -> list[Message]:
        said = [{"text": exchange.text}] if exchange.text else []
        calls = [{"function_call": {"name": name, "args": {"q": 1}}} for _, name in exchange.calls]
        message = {"role": "model", "parts": [*self._thought(thinks=exchange.thinks), *said, *calls]}
        results: list[Message] = [
            {"function_response": {"name": exchange.calls[index][1], "response": {"result": index}}}
            for index in exchange.answered
        ]
        remark = [{"text": exchange.remark}] if exchange.remark else []
        return [message, {"role": "user", "parts": results + remark}] if results else [message]

    def _thought(self, *, thinks: bool) -> list[Message]:
        return [{"text": "Hm.", "thought": True}] if thinks else []


class Converse:
    greets = False
    speaks_before_calls = False

    def system(self, text: str) -> list[Message]:
        return []

    def user(self, text: str, *, picture: bool) -> list[Message]:
        image = [{"image": {"format": "png", "source": {"bytes": PIXEL}}}] if picture else []
        return [{"role": "user", "content": [{"text": text or "continue"}, *image, *self._point(text)]}]

    def assistant(self, text: str, *, thinks: bool) -> list[Message]:
        return [{"role": "assistant", "content": [*self._thought(thinks=thinks), {"text": text or "Done."}]}]

    def exchange(self, exchange: Exchange) -> list[Message]:
        said = [{"text": exchange.text}] if exchange.text else []
        calls = [{"toolUse": {"toolUseId": each, "name": name, "input": {"q": 1}}} for each, name in exchange.calls]
        message = {"role": "assistant", "content": [*self._thought(thinks=exchange.thinks), *said, *calls]}
        results: list[Message] = [
            {"toolResult": {"toolUseId": exchange.calls[index][0], "content": [self._told(index)]}}
            for index in exchange.answered
        ]
        remark = [{"text": exchange.remark}] if exchange.remark else []
        return [message, {"role": "user", "content": results + remark}] if results else [message]

    def _told(self, index: int) -> Message:
        return {"json": {"result": index}} if index % 2 else {"text": f"result {index}"}

    def _point(self, text: str) -> list[Message]:
        return [{"cachePoint": {"type": "default"}}] if text == "yes" else []

    def _thought(self, *, thinks: bool) -> list[Message]:
        return [{"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": PIXEL}}}] if thinks else []


class Interactions:
    greets = True
    speaks_before_calls = True

    def system(self, text: str) -> list[Message]:
        return []

    def user(self, text: str, *, picture: bool) -> list[Message]:
        image = [{"type": "image", "data": PIXEL, "mime_type": "image/png"}] if picture else []
        return [{"type": "user_input", "content": [{"type": "text", "text": text}, *image]}]

    def assistant(self, text: str, *, thinks: bool) -> list[Message]:
        return [*self._thought(thinks=thinks), {"type": "model_output", "content": [{"type": "text", "text": text}]}]

    def exchange(self, exchange: Exchange) -> list[Message]:
        said = [{"type": "model_output", "content": [{"type": "text", "text": exchange.text}]}] if exchange.text else []
        calls = [
            {"type": "function_call", "id": each, "name": name, "arguments": {"q": 1}} for each, name in exchange.calls
        ]
        results: list[Message] = [
            {"type": "function_result", "call_id": exchange.calls[index][0], "result": self._told(index)}
            for index in exchange.answered
        ]
        return [*self._thought(thinks=exchange.thinks), *said, *calls, *results]

    def _told(self, index: int) -> Any:
        return [f"result {index}", {"rows": [index]}, [{"type": "text", "text": f"result {index}"}]][index % 3]

    def _thought(self, *, thinks: bool) -> list[Message]:
        summary = [{"type": "text", "text": "Hm."}]
        return [{"type": "thought", "signature": PIXEL, "summary": summary}] if thinks else []


WRITERS: dict[str, Writer] = {
    "openai": OpenAI(),
    "responses": Responses(),
    "anthropic": Anthropic(),
    "gemini": Gemini(),
    "mistral": Mistral(),
    "converse": Converse(),
    "interactions": Interactions(),
}


@dataclass(frozen=True)
class Features:
    """What Hypothesis turns on and off. The end is "question", "exchange", "open" or "answer"."""

    prompts: int
    greeting: bool
    thinks: bool
    pictures: bool
    empty: bool
    reminders: bool
    talks: bool
    remarks: bool
    end: str


_FLAGS = ("greeting", "thinks", "pictures", "empty", "reminders", "talks", "remarks")
FEATURES = st.builds(
    Features,
    prompts=st.integers(0, 2),
    greeting=st.booleans(),
    thinks=st.booleans(),
    pictures=st.booleans(),
    empty=st.booleans(),
    reminders=st.booleans(),
    talks=st.booleans(),
    remarks=st.booleans(),
    end=st.sampled_from(("question", "exchange", "open", "answer")),
)
# How many exchanges each turn has: a few turns of a few, or a single long one.
_SHORT = st.lists(st.integers(0, 4), min_size=1, max_size=6)
_LONG = st.integers(5, 200).map(lambda size: [size])
TURNS = st.integers(0, 9).flatmap(lambda choice: _LONG if choice == 9 else _SHORT)


class _Author:
    """Writes one history."""

    def __init__(self, provider: str, features: Features, seed: int) -> None:
        self._provider = provider
        self._writer = WRITERS[provider]
        self._features = features
        self._random = Random(seed)
        self._ids = 0
        # Where two messages of a role may not follow each other.
        self._alternates = provider == "converse"
        self.messages: list[Message] = []

    def write(self, sizes: list[int]) -> list[Message]:
        features = self._features
        for _ in range(features.prompts):
            self.messages += self._writer.system(self._text())
        if features.greeting and self._writer.greets:
            self.messages += self._writer.assistant("Hello!", thinks=False)
        for size in sizes:
            self._user()
            self._turn(size)
            self._answer()
        self._end()
        return self.messages

    def _user(self) -> None:
        for _ in range(1 if self._alternates else self._random.choice((1, 1, 1, 2))):
            self.messages += self._writer.user(self._text(), picture=self._features.pictures and self._maybe())

    def _turn(self, size: int) -> None:
        for _ in range(size):
            self._reminder()
            if self._features.talks and self._writer.speaks_before_calls and self._maybe():
                self.messages += self._writer.assistant(self._text(), thinks=self._thinks())
            self.messages += self._writer.exchange(self._exchange())

    def _answer(self) -> None:
        self._reminder()
        for _ in range(1 if self._alternates else self._random.choice((1, 1, 1, 2))):
            self.messages += self._writer.assistant(self._text(), thinks=self._thinks())
        if self._provider in ("openai", "responses") and self._features.reminders and self._maybe():
            self.messages += self._writer.system("Remember the rules.")

    def _end(self) -> None:
        if self._features.end != "answer":
            self._user()
        if self._features.end == "open":
            exchange = self._exchange()
            left = self._random.randrange(len(exchange.calls))
            self.messages += self._writer.exchange(Exchange(exchange.calls, exchange.answered[:left], exchange.text))
        elif self._features.end == "exchange":
            self.messages += self._writer.exchange(self._exchange())

    def _reminder(self) -> None:
        """A system message in the middle, where the provider allows it: here, before something the assistant says."""
        allowed = self._provider != "mistral" or self.messages[-1]["role"] == "user"
        if self._features.reminders and allowed and self._maybe():
            self.messages += self._writer.system("Remember the rules.")

    def _exchange(self) -> Exchange:
        calls = tuple((self._id(), self._random.choice(NAMES)) for _ in range(self._random.choice((1, 1, 2, 4))))
        answered = self._random.sample(range(len(calls)), len(calls))
        text = self._text() if self._maybe() else ""
        remark = "continue" if self._features.remarks and self._maybe() else ""
        return Exchange(calls, tuple(answered), text, self._thinks(), remark)

    def _id(self) -> str:
        self._ids += 1
        return f"call{self._ids:05d}"

    def _text(self) -> str:
        return "" if self._features.empty and self._maybe() else self._random.choice(TEXTS)

    def _thinks(self) -> bool:
        return self._features.thinks and self._maybe()

    def _maybe(self) -> bool:
        return self._random.random() < 0.5


def write_history(provider: str, features: Features, seed: int, sizes: list[int]) -> list[Message]:
    """Write a history with a turn of each of these sizes, for who draws without Hypothesis."""
    messages = _Author(provider, features, seed).write(sizes)
    # A request of Converse may have four points of the cache.
    points = [
        (message, block) for message in messages for block in message.get("content") or () if "cachePoint" in block
    ]
    for message, block in points[4:]:
        message["content"] = [each for each in message["content"] if each is not block]
    return messages


@st.composite
def histories(draw: st.DrawFn, provider: str, *, broken: bool = False) -> list[Message]:
    """Draw a history for a provider; see the module."""
    messages = write_history(provider, draw(FEATURES), draw(st.integers(0, 2**16)), draw(TURNS))
    if broken:
        for _ in range(draw(st.integers(1, 3))):
            _break(draw, messages)
    return messages


def author(provider: str, random: Random) -> list[Message]:
    """Write a history without Hypothesis, which takes a tenth of the time."""
    flags: Any = {name: random.random() < 0.5 for name in _FLAGS}
    end = random.choice(("question", "exchange", "open", "answer"))
    features = Features(prompts=random.randint(0, 2), **flags, end=end)
    sizes = [random.randint(0, 4) for _ in range(random.randint(1, 6))]
    return _Author(provider, features, random.randrange(2**16)).write(sizes)


def compact(provider: str, random: Random, messages: list[Message]) -> None:
    """Insert a compaction: anywhere for Responses, before a question for Anthropic. A few failed, and cover nothing."""
    said = None if random.random() < 0.25 else PIXEL
    if provider == "responses":
        messages.insert(random.randrange(len(messages) + 1), {"type": "compaction", "encrypted_content": said})
    elif provider == "anthropic":
        questions = [n for n, each in enumerate(messages) if each["role"] == "user" and "tool_result" not in str(each)]
        block = {"type": "compaction", "content": said}
        messages.insert(random.choice([*questions, len(messages)]), {"role": "assistant", "content": [block]})


def break_history(random: Random, messages: list[Message]) -> None:
    """Lose, double or move a message."""
    index, other = random.randrange(len(messages) + 1), random.randrange(len(messages) + 1)
    _harm(messages, index, other, random.choice(("lose", "double", "move")))


def _break(draw: st.DrawFn, messages: list[Message]) -> None:
    index = draw(st.integers(0, max(0, len(messages) - 1)))
    other = draw(st.integers(0, len(messages)))
    _harm(messages, index, other, draw(st.sampled_from(("lose", "double", "move"))))


def _harm(messages: list[Message], index: int, other: int, harm: str) -> None:
    lost = [] if harm == "double" else messages[index : index + 1]
    copy = [] if harm == "lose" else messages[index : index + 1]
    del messages[index : index + len(lost)]
    messages[other:other] = copy
