"""`pycupel completion`: print a script that completes verbs, options and names."""

from __future__ import annotations

from typing import Any, get_args

from pycupel.cli import VERBS
from pycupel.cli.exits import FINE
from pycupel.cli.output import Screen
from pycupel.cli.parsers import Parser, load_verb, verb_parser

EXAMPLE = "pycupel completion bash > pycupel.bash"

# zsh runs the same function through its emulation of bash's completion.
_ZSH = "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n"
_BASH = """\
_pycupel() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words=
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{verbs} --help --version"
    else
        case "$previous" in
            -p|--policy) words="{presets}" ;;
            --provider) words="{providers}" ;;
            *) case "${{COMP_WORDS[1]}}" in
{cases}
            esac ;;
        esac
    fi
    COMPREPLY=( $(compgen -W "$words" -- "$current") )
    # Everything else is a file.
    case "$current" in -*) ;; *) COMPREPLY+=( $(compgen -f -- "$current") ) ;; esac
}}
complete -o filenames -F _pycupel pycupel
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("shell", choices=("bash", "zsh"))


def run(options: Any, screen: Screen) -> int:
    """Write the script."""
    from pycupel.messages.options import ProviderName  # noqa: PLC0415
    from pycupel.policies.presets import PRESETS  # noqa: PLC0415

    cases = "\n".join(f'                {name}) words="{" ".join(_words(name))}" ;;' for name in VERBS)
    providers = " ".join(get_args(ProviderName))
    script = _BASH.format(verbs=" ".join(VERBS), presets=" ".join(PRESETS), providers=providers, cases=cases)
    screen.out.write(f"{_ZSH}{script}" if options.shell == "zsh" else script)
    return FINE


def _words(name: str) -> list[str]:
    """Return the options of a verb, and the words that it takes."""
    parser = verb_parser(name, VERBS[name], load_verb(name))
    words: list[str] = []
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way
        words += action.option_strings or map(str, action.choices or ())
    return words
