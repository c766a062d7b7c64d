"""Parse a command line, with suggestions for what is misspelt, and show the help."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn, Protocol

from pycupel import __version__
from pycupel.cli.exits import WRONG, InputError
from pycupel.cli.width import screen_width

__all__ = ["Parser", "Verb", "load_verb", "main_parser", "verb_parser"]


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
    """A parser that suggests what a misspelt option or verb should have been."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **options)
        self.register("type", int, _reader(int, "a whole number"))
        self.register("type", float, _reader(float, "a number"))
        self._given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Parse as argparse does, and remember the arguments."""
        self._given = args or ()
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise the message as an error, with a hint at the help."""
        misspelt = [each for each in map(_option, self._given) if each and each not in self._option_string_actions]
        if misspelt and message.startswith("the following arguments are required"):
            # A misspelt argument may be the missing one.
            message = f"unrecognized arguments: {' '.join(misspelt)}"
        if misspelt and message.startswith(f"unrecognized arguments: {misspelt[0]}"):
            message += _near(misspelt[0], self._option_string_actions)
        raise InputError(f"{message}\n  {self.prog} --help lists its arguments")

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


class _MainParser(Parser):
    def __init__(self, verbs: Mapping[str, str]) -> None:
        listed = "\n".join(f"  {name:12} {summary}" for name, summary in verbs.items())
        super().__init__(
            prog="pycupel",
            usage="pycupel VERB ...",
            description="Decide what goes into the context window, and know why.",
            epilog=f"verbs:\n{listed}\n\n`pycupel VERB --help` explains a verb. Start with: pycupel demo",
        )
        self._verbs = verbs
        self.add_argument("verb", nargs="?", help=argparse.SUPPRESS)
        self.add_argument("--version", action="version", version=f"pycupel {__version__}")

    def respond(self, given: list[str]) -> int:
        """Handle a command line without a verb."""
        if not given:
            self.print_help(sys.stderr)
            return WRONG
        options, _ = self.parse_known_args(given)
        if options.verb is None:
            self.error(f"unrecognized arguments: {given[0]}")
        raise InputError(
            f"unknown verb {options.verb!r}{_near(options.verb, self._verbs)}\n  pycupel --help lists them"
        )


def main_parser(verbs: Mapping[str, str]) -> _MainParser:
    """Make the parser for a command line without a verb: the help, the version, or a mistake."""
    return _MainParser(verbs)


def load_verb(name: str) -> Verb:
    """Import the module of a verb."""
    verb: Any = import_module(f"pycupel.cli.{name}")
    loaded: Verb = verb
    return loaded


def verb_parser(name: str, summary: str, verb: Verb) -> Parser:
    """Make the parser of a verb."""
    parser = Parser(prog=f"pycupel {name}", description=f"{summary[0].upper()}{summary[1:]}.", epilog=_example(verb))
    verb.add_arguments(parser)
    parser.add_argument("--quiet", action="store_true", help="no notes and no summary on stderr")
    return parser


def _example(verb: Verb) -> str:
    lines = "\n".join(f"  {line}" for line in verb.EXAMPLE.strip().splitlines())
    return f"example:\n{lines}"


def _near(name: str, known: Any) -> str:
    from pycupel.model.names import suggestion  # noqa: PLC0415 - only mistakes need it

    return suggestion(name, known)
