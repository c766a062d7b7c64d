"""Parse a command line, with suggestions for what is misspelt, and show the help."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn, Protocol, cast

from pycupel import __version__
from pycupel.cli.exits import WRONG, InputError, screen_width


class Verb(Protocol):
    """A module with a verb."""

    EXAMPLE: str
    """A command line that can be pasted."""

    def add_arguments(self, parser: Parser, /) -> None:
        """Add the arguments of the verb."""

    def run(self, options: Any, screen: Any, /) -> int:
        """Run the verb, and return the exit code."""
        ...


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Formats help for the screen width. Without a width, argparse would import `shutil`, which takes too long."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=screen_width() - 2)


class Parser(argparse.ArgumentParser):
    """A parser that accepts choices in any spelling of their names, and suggests corrections for misspelt arguments."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **options)
        self.register("type", int, _reader(int, "a whole number"))
        self.register("type", float, _reader(float, "a number"))
        self._given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Parse as argparse does, but take `files` on both sides of an option, and reject what is left over.

        Otherwise, what an action of a verb does not know would be an error of the verb, without the suggestion.
        """
        self._given = args or ()
        options, rest = super().parse_known_args(args, namespace)
        if "files" in options and not any(each.startswith("-") and each != "-" for each in rest):
            options.files += rest
            rest = []
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return options, rest

    def error(self, message: str) -> NoReturn:
        """Raise the message as an error, with a hint at the help."""
        misspelt = [each for each in map(_option, self._given) if each and each not in self._option_string_actions]
        # A misspelt option may be the missing one, and what follows it may be its value.
        if misspelt and message.startswith(("the following arguments are required", "unrecognized arguments")):
            message = f"unrecognized arguments: {' '.join(misspelt)}{_near(misspelt[0], self._option_string_actions)}"
        raise InputError(f"{message}\n  {self.prog} --help lists its arguments")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if action.choices is not None:
            # Of an action of a verb and its own arguments, only the first is a choice.
            end = 1 if action.nargs == argparse.PARSER else len(arg_strings)
            arg_strings = [*(_resolved(each, action.choices) for each in arg_strings[:end]), *arg_strings[end:]]
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [*action.choices]
            raise argparse.ArgumentError(
                action, f"unknown value {value!r}; choose from {', '.join(known)}{_near(value, known)}"
            )


def _reader(kind: Callable[[str], Any], name: str) -> Callable[[str], Any]:
    """Reads a value of that type. The errors of argparse would name the Python type."""

    def read(text: str) -> Any:
        try:
            return kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be {name}, not {text!r}") from None

    return read


def _option(argument: str) -> str:
    """Return the name of a long option, or an empty string."""
    found = re.match(r"--[\w-]+", argument)
    return found[0] if found else ""


def run_without_verb(given: Sequence[str], verbs: Mapping[str, str]) -> int:
    """Handle a command line that does not begin with a verb: show the help or the version, or say what is wrong."""
    listed = "\n".join(f"  {name:12} {summary}" for name, summary in verbs.items())
    parser = Parser(
        prog="pycupel",
        usage="pycupel VERB ...",
        description="Decide what goes into the context window, and know why.",
        epilog=f"verbs:\n{listed}\n\n`pycupel VERB --help` explains a verb. Start with: pycupel demo",
    )
    parser.add_argument("--version", action="version", version=f"pycupel {__version__}")
    if not given:
        parser.print_help(sys.stderr)
        return WRONG
    first, *rest = given
    if first.startswith("-"):
        verb = next((each for each in rest if each in verbs), None)
        if verb is not None and first not in {"-h", "--help", "--version"}:
            raise InputError(f"options come after the verb: pycupel {verb} {first} ...")
        parser.parse_args([first])
    raise InputError(f"unknown verb {first!r}{_near(first, verbs)}\n  pycupel --help lists them")


def load_verb(name: str) -> Verb:
    """Import the module of a verb."""
    return cast("Verb", import_module(f"pycupel.cli.{name}"))


def verb_parser(name: str, summary: str, verb: Verb) -> Parser:
    """Make the parser of a verb."""
    parser = Parser(prog=f"pycupel {name}", description=as_sentence(summary), epilog=_example(verb))
    verb.add_arguments(parser)
    add_quiet(parser)
    parser.set_defaults(quiet=False)
    return parser


def add_quiet(parser: Parser) -> None:
    """Add `--quiet`. It has no default, so that an action of a verb does not undo what the verb was given."""
    text = "suppress notes and the summary on stderr"
    parser.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help=text)


def as_sentence(summary: str) -> str:
    """Make a sentence of what a verb does."""
    return f"{summary[0].upper()}{summary[1:]}."


def _example(verb: Verb) -> str:
    lines = "\n".join(f"  {line}" for line in verb.EXAMPLE.strip().splitlines())
    return f"example:\n{lines}"


def _resolved(given: str, choices: Iterable[str]) -> str:
    """Return the choice in its usual spelling: `--engine LOCAL` is `local`. Unknown ones are left as they are."""
    if given in choices:
        return given
    from pycupel.model.checks import find_name  # noqa: PLC0415 - the usual spelling does not need it

    return find_name(given, choices) or given


def _near(name: str, known: Any) -> str:
    from pycupel.model.checks import suggestion  # noqa: PLC0415 - only mistakes need it

    return suggestion(name, known)
