"""`pycupel policy`: list, show, check and convert policies."""

from __future__ import annotations

from typing import Any

from pycupel.cli.exits import FINE, report
from pycupel.cli.options import add_json, policy_of
from pycupel.cli.output import Screen, visible
from pycupel.cli.parsers import Parser, add_quiet, as_sentence
from pycupel.errors import CupelError
from pycupel.policies import dump_policy, load_policy, policy_json_schema, save_policy
from pycupel.policies.presets import PRESETS

EXAMPLE = """
pycupel policy list
pycupel policy show rag > rag.json
pycupel policy convert rag.json rag.toml
pycupel policy check rag.json rag.toml
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)

    def add_action(name: str, summary: str) -> Parser:
        action = actions.add_parser(name, help=summary, description=as_sentence(summary))
        add_quiet(action)
        return action

    add_json(add_action("list", "list the presets"))
    show = add_action("show", "print a preset or a file in the canonical form")
    show.add_argument("policy", metavar="NAME|FILE", help="a preset or a policy file")
    show.add_argument("--format", choices=("json", "toml", "yaml"), default="json", help="default: json")
    check = add_action("check", "find the mistakes in policy files")
    check.add_argument("files", nargs="+", metavar="FILE", help="policy files: JSON, TOML or YAML")
    add_action("schema", "print the JSON Schema of policy files")
    convert = add_action("convert", "convert a policy; the suffix of the new file sets the format")
    convert.add_argument("source", metavar="NAME|FILE", help="a preset or a policy file")
    convert.add_argument("target", metavar="FILE", help="the file to write: .json, .toml, .yaml or .yml")


def run(options: Any, screen: Screen) -> int:
    """Run the action."""
    if options.action == "list":
        _list(options, screen)
    elif options.action == "show":
        screen.out.write(dump_policy(policy_of(options.policy), options.format))
    elif options.action == "schema":
        screen.json(policy_json_schema())
    elif options.action == "convert":
        save_policy(policy_of(options.source), options.target)
    else:
        return _check(options.files, screen)
    return FINE


def _list(options: Any, screen: Screen) -> None:
    if options.json:
        screen.json([{"name": name, "description": policy.description} for name, policy in PRESETS.items()])
    else:
        screen.terms({name: policy.description or "" for name, policy in PRESETS.items()})


def _check(files: list[str], screen: Screen) -> int:
    """Check all files, even if the first one is wrong."""
    code = FINE
    for file in files:
        try:
            load_policy(file)
        except (CupelError, OSError) as error:
            code = report(error)
        else:
            screen.text(f"{visible(file)}: fine")
    return code
