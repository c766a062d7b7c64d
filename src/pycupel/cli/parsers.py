"""Parsers: the options that verbs share, defined once, and the help."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn, Protocol

from pycupel import __version__
from pycupel.cli.exits import WRONG, InputError
from pycupel.cli.width import screen_width

__all__ = [
    "Parser",
    "Verb",
    "add_budget",
    "add_counter",
    "add_json",
    "add_policy",
    "add_provider",
    "add_query",
    "add_selection",
    "bound",
    "budget_of",
    "load_verb",
    "main_parser",
    "parse_amount",
    "percent_or_tokens",
    "policy_of",
    "verb_parser",
]

_POLICY_FILE = re.compile(r"\.(json|toml|ya?ml)$", re.IGNORECASE)


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


# --- options


def add_selection(parser: Parser, *, budget: str = "", needs_budget: bool = True, policies: bool = False) -> None:
    """Add what selects from items: `FILE`, `--budget`, `--policy` or several of them, and `--query`."""
    _add_items(parser)
    add_budget(parser, required=needs_budget, text=budget)
    add_policy(parser, many=policies)
    add_query(parser)


def _add_items(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="items: a JSON array or JSON lines; - for stdin")
    parser.add_argument("--strict", action="store_true", help="refuse unknown keys instead of warning")
    add_counter(parser, "counts items without tokens")


def add_counter(parser: Parser, purpose: str) -> None:
    """Add `--counter`."""
    parser.add_argument("--counter", default="auto", metavar="NAME", help=f"{purpose}: auto, estimator, a model")


def add_budget(parser: Parser, *, required: bool = True, text: str = "") -> None:
    """Add `--budget`, and the options that a share of a window needs."""
    text = text or "tokens, or a share of the window like 50%%"
    parser.add_argument("-b", "--budget", required=required, metavar="N|N%", help=text)
    parser.add_argument("--window", type=int, metavar="N", help="the model's window, for a budget in percent")
    parser.add_argument("--model", metavar="NAME", help="the model whose window to use")


def add_policy(parser: Parser, *, many: bool = False, more: str = "; repeat it") -> None:
    """Add `--policy`."""
    text = "a preset (`pycupel policy list`) or a policy file"
    if many:
        parser.add_argument("-p", "--policy", action="append", metavar="NAME|FILE", help=f"{text}{more}")
    else:
        parser.add_argument("-p", "--policy", default="chat", metavar="NAME|FILE", help=f"{text}; default: chat")


def add_query(parser: Parser) -> None:
    """Add `--query`."""
    parser.add_argument("-q", "--query", metavar="TEXT", help="what the selection should be relevant to")


def add_provider(parser: Parser) -> None:
    """Add `--provider`."""
    parser.add_argument(
        "--provider",
        default="auto",
        metavar="NAME",
        help="openai, responses, anthropic, gemini or mistral; default: detected",
    )


def add_json(parser: Parser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")


# --- the values of options


def budget_of(options: Any, model: str | None = None) -> int:
    """Return the budget in tokens; a share is one of this model's window, unless the options name another."""
    return percent_or_tokens(options.budget, options, model)


def percent_or_tokens(given: str, options: Any, model: str | None = None) -> int:
    """Return a number of tokens, given as such or as a share of the window."""
    number, is_share = parse_amount(given)
    if not is_share:
        return int(number)
    try:
        return int(_window(options, options.model or model) * number / 100)
    except OverflowError:
        raise InputError("the window is too large for a share of it") from None


def parse_amount(given: str) -> tuple[float, bool]:
    """Read a number of tokens or a percentage; return the number, and whether it is a percentage."""
    text = given.strip()
    try:
        number = float(text[:-1]) if text.endswith("%") else int(text.replace(",", ""))
    except ValueError:
        thousands = re.fullmatch(r"(\d+)k", text, re.IGNORECASE)
        meant = f"; did you mean {thousands[1]}000?" if thousands else ""
        raise InputError(f"the budget must be a number of tokens or a share like 50%, not {given!r}{meant}") from None
    if not text.endswith("%"):
        return _checked("budget", int(number)), False
    if not 0 < number <= 100:
        raise InputError(f"a share of the window must be above 0% and at most 100%, not {given}")
    return number, True


def _checked(name: str, tokens: int) -> int:
    if tokens < 0:
        raise InputError(f"the {name} must not be negative, but is {tokens}")
    return tokens


def _window(options: Any, model: str | None) -> int:
    if options.window is not None:
        return _checked("window", options.window)
    if model is None:
        raise InputError("a budget in percent needs --window N or --model NAME")
    from pycupel.tokens.windows import window_of  # noqa: PLC0415

    return window_of(model)


def bound(policy: Any, query: str | None) -> Any:
    """Bind the policy to the query, if there is one."""
    return policy if query is None else policy.for_query(query)


def policy_of(given: str) -> Any:
    """Load the policy in a file, or return the preset of that name."""
    if _POLICY_FILE.search(given):
        from pycupel.policies import load_policy  # noqa: PLC0415

        return load_policy(given)
    from pycupel.errors import InvalidArgumentError  # noqa: PLC0415
    from pycupel.policies.presets import preset  # noqa: PLC0415

    try:
        return preset(given)
    except InvalidArgumentError as error:
        if os.path.isfile(given):  # noqa: PTH113 - `pathlib` takes too long to import
            error.add_note("The name of a policy file must end with .json, .toml, .yaml or .yml.")
        raise
