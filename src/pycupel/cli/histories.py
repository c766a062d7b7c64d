"""The verbs about chat histories: `trim`, `lint` and `count`.

`pycupel.messages` and the layout of tables are imported by the verbs that need them: together they take 100 ms, and
`count` is often called for a text.
"""

from __future__ import annotations

import io
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pycupel.cli.exits import FINDINGS, OK, InputError
from pycupel.cli.inputs import (
    HISTORY,
    ITEMS,
    Conversation,
    check_files,
    conversations_in,
    errors_about,
    hint_at,
    name_of,
    open_text,
    read_conversations,
)
from pycupel.cli.output import Screen, visible
from pycupel.cli.parsers import (
    DROPPING,
    Parser,
    Verb,
    add_budget,
    add_counter,
    add_input,
    add_policy,
    add_shared,
    budget_of,
    history_policy_of,
    parse_amount,
)
from pycupel.codecs.json_values import read_values
from pycupel.errors import DocumentError, MessageShapeError, UnitTooLargeError
from pycupel.fields import MESSAGE_KEYS
from pycupel.model.budget import ModelLimits

if TYPE_CHECKING:
    from pycupel.messages import Finding, MessageSelection
    from pycupel.render._layout import Line
    from pycupel.tokens import Counter

# `trim`: write the part of a chat history that fits, in the shape of the input.


def _add_trim(parser: Parser) -> None:
    add_input(parser, "messages or a request: JSON or JSON lines; - for stdin")
    add_budget(parser)
    add_policy(parser, f", {DROPPING}")
    add_shared(parser, "--query", "--provider")
    add_counter(parser, "token counter")


def _trim(options: Any, screen: Screen) -> int:
    """Write what to send."""
    # A share may be of the window of the model in the file, but a mistake need not wait for it.
    parse_amount(options.budget)
    policy = history_policy_of(options.policy)
    conversation, *others = read_conversations(options.file, options.max_line)
    if others:
        raise InputError(
            f"{name_of(options.file)}: has {len(others) + 1:,} requests, but trim takes one\n"
            "  `pycupel batch` selects for every request of a log."
        )
    with errors_about(options.file):
        selection = _trimmed(conversation, policy, options)
    screen.json_lines(conversation.documents(selection.messages))
    model, reply = conversation.beside["model"], conversation.reply_tokens
    budget, share = (budget_of(options, model, policy=policy, reply=tokens) for tokens in (reply, 0))
    if budget < share:
        why = f"the request asks for a reply of up to {reply:,}"
        screen.note(f"note: the budget is {budget:,} tokens, not {share:,}, because {why}")
    for note in selection.notes:
        screen.note(f"note: {note}")
    screen.note(
        f"{len(selection.messages):,} of {len(conversation.messages):,} messages, "
        f"{selection.usage.prompt:,} tokens for {selection.provider}, counted by {selection.counter}"
    )
    return OK


def _trimmed(conversation: Conversation, policy: Any, options: Any) -> MessageSelection:
    from pycupel.messages import select_messages  # noqa: PLC0415

    beside = conversation.beside
    model = beside["model"] = options.model or beside["model"]
    budget = budget_of(options, model, policy=policy, reply=conversation.reply_tokens)
    if model is not None and options.window:
        # A window that is given replaces what is known about the model.
        limits = ModelLimits(options.window, options.window, None)
        policy = replace(policy, models={**policy.models, model: limits})
    try:
        selection: MessageSelection = select_messages(
            conversation.messages,
            budget,
            provider=options.provider,
            policy=policy,
            query=options.query,
            counter=options.counter,
            **beside,
        )
    except UnitTooLargeError as error:
        # In the words of the command line, which can neither pin messages nor set `too_large`.
        notes = [note for note in getattr(error, "__notes__", ()) if "too_large=" not in note]
        error.__notes__ = [note.replace(" pin less,", "").replace("Raise the budget", "Raise -b") for note in notes]
        raise
    return selection


# `lint`: find what a provider would reject in chat histories. Exit 1 if there are findings.


def _add_lint(parser: Parser) -> None:
    add_input(parser, "messages or requests: JSON or JSON lines; - for stdin")
    add_shared(parser, "--provider")
    parser.add_argument("--errors-only", action="store_true", help="omit warnings")
    add_shared(parser, "--json")


def _lint(options: Any, screen: Screen) -> int:
    """Write the findings, and return 1 if there are any."""
    from pycupel.render._layout import plural  # noqa: PLC0415

    conversations = read_conversations(options.file, options.max_line)
    with errors_about(options.file):
        found = [
            (conversation.number, finding)
            for conversation in conversations
            for finding in _findings(conversation, options.provider, alone=len(conversations) == 1)
            if finding.severity == "error" or not options.errors_only
        ]
    if options.json:
        screen.json([{"record": number, **asdict(finding)} for number, finding in found])
    else:
        for number, finding in found:
            prefix = f"record {number}, " if len(conversations) > 1 else ""
            screen.lines(_finding_lines(prefix, finding, screen.width))
    messages = sum(len(each.messages) for each in conversations)
    screen.note(f"{plural(len(found), 'finding')} in {plural(messages, 'message')}")
    return FINDINGS if found else OK


def _findings(conversation: Conversation, provider: Any, *, alone: bool) -> list[Finding]:
    from pycupel.messages import Finding, lint_messages  # noqa: PLC0415

    try:
        return lint_messages(conversation.messages, provider, **conversation.beside)
    except MessageShapeError as error:
        if alone:
            raise
        # The other records may have findings, too.
        problem = f"{error.key}: {error.args[0]}" if error.key else error.args[0]
        return [Finding(error.index, "unknown-shape", problem, "Use a message format that the provider accepts.")]


def _finding_lines(prefix: str, finding: Finding, width: int) -> list[Line]:
    from pycupel.render._layout import ALARM, QUIET, Span, paragraph  # noqa: PLC0415

    code = ALARM if finding.severity == "error" else ""
    where = f"messages[{finding.index}]" if finding.index >= 0 else "outside the messages"
    head = [Span(f"{prefix}{where}: "), Span(finding.severity, code), Span(f" {finding.rule}", QUIET)]
    message = paragraph(f"{visible(finding.message)}. {visible(finding.remedy)}", width, indent="  ")
    return [head, *message]


# `count`: count the tokens of texts, items and chat histories.


# A message or a request of any provider has one of these keys.
_MESSAGE_MARKS = {"role", "type", "parts", *MESSAGE_KEYS}


class _Size(NamedTuple):
    """The size of a file; `reply` is what the provider adds for replies, `stated` what items claim to have."""

    what: str
    tokens: int
    counters: list[Counter]
    hint: str = ""
    reply: int = 0
    stated: int = 0


def _add_count(parser: Parser) -> None:
    add_input(parser, "texts, items or messages; - for stdin", several="FILE")
    parser.add_argument(
        "--as",
        dest="kind",
        choices=("auto", "text", "items", "messages"),
        default="auto",
        metavar="KIND",
        help="text, items or messages; default: auto",
    )
    add_shared(parser, "--provider")
    add_counter(parser, "token counter")
    parser.add_argument("--model", metavar="NAME", help="the model whose tokens to count; default: that of a request")
    add_shared(parser, "--json")


def _count(options: Any, screen: Screen) -> int:
    """Write the tokens of each file, and of all."""
    from pycupel.render._layout import Row, Span  # noqa: PLC0415
    from pycupel.tokens import get_counter  # noqa: PLC0415

    check_files(options.files)
    # A counter that is named goes before that of the model.
    counter = get_counter(options.model if options.model and options.counter == "auto" else options.counter)
    sizes = [(path, _size(path, options, counter)) for path in options.files]
    total, reply = sum(size.tokens for _, size in sizes), sum(size.reply for _, size in sizes)
    counters = [counter for _, size in sizes for counter in size.counters]
    names, is_exact = ", ".join(dict.fromkeys(map(str, counters))), all(counter.exact for counter in counters)
    if options.json:
        files = [
            {"file": path, "what": size.what, "tokens": size.tokens, **({"reply": size.reply} if size.reply else {})}
            for path, size in sizes
        ]
        screen.json({"counter": names, "exact": is_exact, "files": files, "total": total})
        return OK
    rows = [Row((Span(f"{size.tokens:,}"), Span(size.what)), visible(name_of(path))) for path, size in sizes]
    if len(rows) > 1:
        rows.append(Row((Span(f"{total:,}"), Span("total"))))
    screen.table((">tokens", "<what"), rows, text="file")
    for path, size in sizes:
        if size.hint:
            screen.note(f"{name_of(path)}: counted as plain text{size.hint}")
        if size.stated not in {0, size.tokens}:
            screen.note(f"{name_of(path)}: counted from the contents; the items themselves say {size.stated:,}")
    apart = f"; the start of the reply adds {reply:,}" if reply else ""
    screen.note(f"counted by {names}{'' if is_exact else ', an estimate'}{apart}")
    return OK


def _size(path: str, options: Any, counter: Counter) -> _Size:
    from pycupel.render._layout import plural  # noqa: PLC0415

    with open_text(path, options.max_line) as lines:
        # Count the whole text, because tokens span lines.
        text = "".join(lines)
        kind, hint = (options.kind, "") if options.kind != "auto" else _kind_of(text)
        if kind == "text":
            return _Size("text", counter(text), [counter], hint)
        if kind == "items":
            rows = _rows(text)
            contents = [_content(number, row) for number, row in enumerate(rows, 1)]
            stated = sum(row["tokens"] for row in rows if type(row.get("tokens")) is int)
            return _Size(plural(len(contents), "item"), sum(map(counter, contents)), [counter], stated=stated)
        return _messages_size(conversations_in(io.StringIO(text)), options)


def _content(number: int, row: dict[str, Any]) -> str:
    content = row.get("content")
    if not isinstance(content, str):
        raise DocumentError(f"record {number}: an item needs a string field 'content'{hint_at(row, ITEMS)}")
    return content


def _messages_size(found: list[Conversation], options: Any) -> _Size:
    """Count each request as its model requires, unless the counter is named."""
    from pycupel.messages.counting import count_messages, resolve_counter  # noqa: PLC0415
    from pycupel.messages.detect import resolve_provider  # noqa: PLC0415
    from pycupel.render._layout import plural  # noqa: PLC0415

    tokens, reply = 0, 0
    counters: list[Counter] = []
    for each in found:
        beside = {**each.beside, "model": options.model or each.beside["model"]}
        provider = resolve_provider(each.messages, options.provider, beside["model"])
        counters.append(resolve_counter(options.counter, provider, beside["model"]))
        tokens += count_messages(each.messages, options.provider, counters[-1], **beside)
        reply += provider.prices.reply
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


VERBS = {
    "trim": Verb(_trim, _add_trim, "pycupel demo messages | pycupel trim - -b 1500"),
    "lint": Verb(_lint, _add_lint, "pycupel demo messages | pycupel lint - --provider openai"),
    "count": Verb(
        _count,
        _add_count,
        """
echo 'How many tokens is this?' | pycupel count -
pycupel demo messages | pycupel count -
""",
    ),
}
