"""`pycupel count`: count the tokens of texts, items and chat histories."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

from pycupel.cli.exits import FINE
from pycupel.cli.inputs import (
    HISTORY,
    ITEMS,
    MESSAGE_KEYS,
    Conversation,
    check_files,
    conversations_in,
    hint_at,
    name_of,
    open_text,
    read_values,
)
from pycupel.cli.options import add_counter, add_input, add_json, add_provider
from pycupel.cli.output import Screen, visible
from pycupel.cli.parsers import Parser
from pycupel.errors import DocumentError
from pycupel.render._layout import Row, Span, plural
from pycupel.tokens import Counter, get_counter

EXAMPLE = """
echo 'How many tokens is this?' | pycupel count -
pycupel demo messages | pycupel count -
"""

_KINDS = ("auto", "text", "items", "messages")
# A message or a request of any provider has one of these keys.
_MESSAGE_MARKS = {"role", "type", "parts", *MESSAGE_KEYS}


class _Size(NamedTuple):
    """The kind of a file, its tokens, the counter used, and what the provider adds for the starts of replies."""

    what: str
    tokens: int
    counters: list[Counter]
    hint: str = ""
    reply: int = 0


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_input(parser, "texts, items or messages; - for stdin", several="FILE")
    parser.add_argument(
        "--as",
        dest="kind",
        choices=_KINDS,
        default="auto",
        metavar="KIND",
        help="text, items or messages; default: auto",
    )
    add_provider(parser)
    add_counter(parser, "token counter")
    add_json(parser)


def run(options: Any, screen: Screen) -> int:
    """Write the tokens of each file, and of all."""
    check_files(options.files)
    counter = get_counter(options.counter)
    sizes = [(path, _size(path, options, counter)) for path in options.files]
    total = sum(size.tokens for _, size in sizes)
    counters = [counter for _, size in sizes for counter in size.counters]
    names, is_exact = ", ".join(dict.fromkeys(map(str, counters))), all(counter.exact for counter in counters)
    if options.json:
        files = [
            {"file": path, "what": size.what, "tokens": size.tokens, **({"reply": size.reply} if size.reply else {})}
            for path, size in sizes
        ]
        screen.json({"counter": names, "exact": is_exact, "files": files, "total": total})
        return FINE
    rows = [Row((Span(f"{size.tokens:,}"), Span(size.what)), visible(name_of(path))) for path, size in sizes]
    if len(rows) > 1:
        rows.append(Row((Span(f"{total:,}"), Span("total"))))
    screen.table((">tokens", "<what"), rows, text="file")
    for path, size in sizes:
        if size.hint:
            screen.note(f"{name_of(path)}: counted as plain text{size.hint}")
    reply = sum(size.reply for _, size in sizes)
    apart = f"; the start of the reply adds {reply:,}" if reply else ""
    screen.note(f"counted by {names}{'' if is_exact else ', an estimate'}{apart}")
    return FINE


def _size(path: str, options: Any, counter: Counter) -> _Size:
    with open_text(path, options.max_line) as lines:
        # Count the whole text, because tokens span lines.
        text = "".join(lines)
        kind, hint = (options.kind, "") if options.kind != "auto" else _kind_of(text)
        if kind == "text":
            return _Size("text", counter(text), [counter], hint)
        if kind == "items":
            contents = [_content(number, row) for number, row in enumerate(_rows(text), 1)]
            return _Size(plural(len(contents), "item"), sum(map(counter, contents)), [counter])
        found = conversations_in(io.StringIO(text))
        return _messages_size(found, options.provider, options.counter)


def _content(number: int, row: dict[str, Any]) -> str:
    content = row.get("content")
    if not isinstance(content, str):
        raise DocumentError(f"record {number}: an item needs a string field 'content'{hint_at(row, ITEMS)}")
    return content


def _messages_size(found: list[Conversation], provider: Any, counter: str) -> _Size:
    """Count each request as its model requires, unless the counter is named."""
    from pycupel.messages.counting import count_messages, resolve_counter  # noqa: PLC0415 - texts do not need it
    from pycupel.messages.detect import resolve_provider  # noqa: PLC0415

    tokens, reply, counters = 0, 0, list[Counter]()
    for each in found:
        known = resolve_provider(each.messages, provider, each.beside["model"])
        counters.append(resolve_counter(counter, known, each.beside["model"]))
        tokens += count_messages(each.messages, provider, counters[-1], **each.beside)
        reply += known.prices.reply
    return _Size(plural(sum(len(each.messages) for each in found), "message"), tokens, counters, reply=reply)


def _kind_of(text: str) -> tuple[str, str]:
    """Determine what a text is: messages, items, or just text, with a hint if it looks like something else."""
    try:
        rows = _rows(text)
    except DocumentError:
        return "text", ""
    if not rows:
        return "text", ""
    if all("content" in row and "role" not in row and "type" not in row for row in rows):
        return "items", ""
    # In a row of a transcript, the message is only a part.
    hint = next(filter(None, (hint_at(row, HISTORY) for row in rows)), "")
    return ("messages" if not hint and all(_MESSAGE_MARKS & row.keys() for row in rows) else "text"), hint


def _rows(text: str) -> list[dict[str, Any]]:
    values = [located.value for located in read_values(io.StringIO(text))]
    if all(isinstance(value, dict) for value in values):
        return values
    raise DocumentError("contains values that are not objects")
