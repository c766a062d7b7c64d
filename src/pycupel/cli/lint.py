"""`pycupel lint`: find what a provider would reject in chat histories. Exit 1 if there are findings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pycupel.cli.exits import FINDINGS, FINE
from pycupel.cli.inputs import Conversation, naming, read_conversations
from pycupel.cli.options import add_input, add_json, add_provider
from pycupel.cli.output import Screen, visible
from pycupel.cli.parsers import Parser
from pycupel.errors import MessageShapeError
from pycupel.messages import Finding, lint_messages
from pycupel.render._layout import ALARM, QUIET, Line, Span, paragraph, plural

EXAMPLE = "pycupel demo messages | pycupel lint - --provider openai"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_input(parser, "messages or requests: JSON or JSON lines; - for stdin")
    add_provider(parser)
    parser.add_argument("--errors-only", action="store_true", help="omit warnings")
    add_json(parser)


def run(options: Any, screen: Screen) -> int:
    """Write the findings, and return 1 if there are any."""
    conversations = read_conversations(options.file, options.max_line)
    with naming(options.file):
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
            screen.lines(_lines(prefix, finding, screen.width))
    messages = sum(len(each.messages) for each in conversations)
    screen.note(f"{plural(len(found), 'finding')} in {plural(messages, 'message')}")
    return FINDINGS if found else FINE


def _findings(conversation: Conversation, provider: Any, *, alone: bool) -> list[Finding]:
    try:
        return lint_messages(conversation.messages, provider, **conversation.beside)
    except MessageShapeError as error:
        if alone:
            raise
        # The other records may have findings, too.
        problem = f"{error.key}: {error.args[0]}" if error.key else error.args[0]
        return [Finding(error.index, "unknown-shape", problem, "Use a message format that the provider accepts.")]


def _lines(prefix: str, finding: Finding, width: int) -> list[Line]:
    code = ALARM if finding.severity == "error" else ""
    where = f"messages[{finding.index}]" if finding.index >= 0 else "outside the messages"
    head = [Span(f"{prefix}{where}: "), Span(finding.severity, code), Span(f" {finding.rule}", QUIET)]
    message = paragraph(f"{visible(finding.message)}. {visible(finding.remedy)}", width, indent="  ")
    return [head, *message]
