"""`overtone completion SHELL`: a script that lets the shell complete commands, options and experiments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

from overtone.cli.arguments import COMMANDS, Arguments
from overtone.cli.exit_codes import OK

HOW = """\
  bash:  overtone completion bash > ~/.local/share/bash-completion/completions/overtone
  zsh:   overtone completion zsh > "${fpath[1]}/_overtone"
  fish:  overtone completion fish > ~/.config/fish/completions/overtone.fish
"""


class Option(NamedTuple):
    """An option: its names, what it takes ("" for nothing, "file", "dir", "word" or a list), and its help."""

    names: tuple[str, ...]
    takes: str
    about: str


class Command(NamedTuple):
    """A command: its options, what its first argument is ("experiment", "dir" or a list), its help."""

    name: str
    options: tuple[Option, ...]
    first: str
    about: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone completion`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"where to put it:\n{HOW}"
    parser.add_argument("shell", choices=tuple(_SCRIPTS))


def run(args: Arguments) -> int:
    """Print the script."""
    print(_SCRIPTS[args.shell](commands()), end="")
    return OK


def commands() -> list[Command]:
    """Return the commands as the parser has them."""
    from overtone.cli.arguments import made

    subparsers = next(
        one for one in made(list(COMMANDS))._actions if isinstance(one, argparse._SubParsersAction)
    )
    return [
        Command(name, tuple(_options(parser)), _first(parser), COMMANDS[name])
        for name, parser in subparsers.choices.items()
    ]


def _options(parser: argparse.ArgumentParser) -> list[Option]:
    found = []
    for action in parser._actions:
        if action.option_strings and action.help is not argparse.SUPPRESS:
            found.append(
                Option(tuple(action.option_strings), _takes(action), (action.help or "").replace("'", ""))
            )
    return found


def _takes(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if action.choices is not None:
        return " ".join(map(str, action.choices))
    return {"FILE": "file", "DIR": "dir"}.get(str(action.metavar), "word")


def _first(parser: argparse.ArgumentParser) -> str:
    action = next((one for one in parser._actions if not one.option_strings), None)
    if action is None:
        return ""
    if action.choices is not None:
        return " ".join(map(str, action.choices))
    return "dir" if action.metavar == "DIR" else "experiment"


# --- bash ------------------------------------------------------------------------------

_BASH = """\
# Completion of overtone for bash. Made by: overtone completion bash
_overtone_experiments() {{
    local root="$HOME/overtone_results" i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${{COMP_WORDS[i]}} == --dir ]] && root="${{COMP_WORDS[i + 1]/#\\~/$HOME}}"
    done
    local one
    for one in "$root"/*/journal.jsonl; do
        [[ -e $one ]] || continue
        one="${{one%/journal.jsonl}}"
        one="${{one##*/}}"
        [[ $one == "${{1//\\\\/}}"* ]] && COMPREPLY+=("$(printf %q "$one")")
    done
}}

# Names are quoted here: bash itself, with "-o filenames", lets $ and ` stand, which would be run.
_overtone_paths() {{
    local one end=
    [[ $1 == -d ]] && end=/
    while IFS= read -r one; do
        if [[ $one == "~"* ]]; then
            COMPREPLY+=("~$(printf %q "${{one:1}}")$end")
        else
            COMPREPLY+=("$(printf %q "$one")$end")
        fi
    done < <(compgen "$1" -- "${{2//\\\\/}}")
    [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == */ ]] && compopt -o nospace 2> /dev/null
}}

_overtone() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD - 1]}}" command= i
    local n_words=0
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${{COMP_WORDS[i]}}" in
            {valued}) ((i++)); continue ;;
            -*) continue ;;
        esac
        if [[ -z $command ]]; then command="${{COMP_WORDS[i]}}"; else ((n_words++)); fi
    done
    if [[ -z $command ]]; then
        COMPREPLY=($(compgen -W "{names} --help --version" -- "$current"))
        return
    fi
    local options= first=
    case "$command" in
{cases}
    esac
    case "$command $previous" in
{values}
    esac
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
        return
    fi
    case "$first" in
        experiment)
            [[ $n_words -eq 0 ]] && _overtone_experiments "$current"
            _overtone_paths -d "$current" ;;
        dir) _overtone_paths -d "$current" ;;
        *) COMPREPLY=($(compgen -W "$first" -- "$current")) ;;
    esac
}}
complete -F _overtone overtone
"""


def _bash(found: list[Command]) -> str:
    cases, values = [], []
    takers = [option for one in found for option in one.options if option.takes]
    valued = sorted({name for option in takers for name in option.names})
    for one in found:
        options = " ".join(name for option in one.options for name in option.names)
        cases.append(f'        {one.name}) options="{options}" first="{one.first}" ;;')
        for option in one.options:
            if option.takes:
                patterns = "|".join(f'"{one.name} {name}"' for name in option.names)
                values.append(f"        {patterns}) {_bash_value(option.takes)}; return ;;")
    names = " ".join(one.name for one in found)
    return _BASH.format(
        names=names, cases="\n".join(cases), values="\n".join(values), valued="|".join(valued)
    )


def _bash_value(takes: str) -> str:
    if takes == "file":
        return '_overtone_paths -f "$current"'
    if takes == "dir":
        return '_overtone_paths -d "$current"'
    return "COMPREPLY=()" if takes == "word" else f'COMPREPLY=($(compgen -W "{takes}" -- "$current"))'


# --- zsh -------------------------------------------------------------------------------

_ZSH = """\
#compdef overtone
# Completion of overtone for zsh. Made by: overtone completion zsh
_overtone_experiments() {{
    local root="$HOME/overtone_results"
    local at=${{words[(I)--dir]}}
    (( at )) && root="${{words[at + 1]/#\\~/$HOME}}"
    local -a found
    found=("$root"/*/journal.jsonl(N:h:t))
    _alternative "experiments:experiment:compadd -a found" "folders:folder:_files -/"
}}

_overtone() {{
    local -a commands
    commands=(
{names}
    )
    if (( CURRENT == 2 )); then
        _describe -t commands command commands -- && return
        _arguments "--help[show help]" "--version[print the version]"
        return
    fi
    local command="${{words[2]}}"
    shift words
    (( CURRENT-- ))
    case "$command" in
{cases}
    esac
}}

if [[ "$funcstack[1]" == _overtone ]]; then
    _overtone "$@"
else
    compdef _overtone overtone
fi
"""


def _zsh(found: list[Command]) -> str:
    names = "\n".join(f"        '{one.name}:{_plain(one.about)}'" for one in found)
    cases = []
    for one in found:
        specs = [
            f"'{name}[{_plain(option.about)}]{_zsh_value(option.takes)}'"
            for option in one.options
            for name in option.names
        ]
        if one.first:
            specs.append(f"'1:{_ZSH_FIRST.get(one.first, f'shell:({one.first})')}'")
        cases.append(f"        {one.name}) _arguments {' '.join(specs)} ;;")
    return _ZSH.format(names=names, cases="\n".join(cases))


_ZSH_FIRST = {"experiment": "experiment:_overtone_experiments", "dir": "folder:_files -/"}


def _zsh_value(takes: str) -> str:
    return {"": "", "file": ":file:_files", "dir": ":folder:_files -/", "word": ":value:"}.get(
        takes, f":value:({takes})"
    )


def _plain(text: str) -> str:
    """Without what has a meaning in the descriptions of zsh."""
    return "".join(c for c in text if c not in "[]:'\\")


# --- fish ------------------------------------------------------------------------------

_FISH = """\
# Completion of overtone for fish. Made by: overtone completion fish
function __overtone_experiments
    set -l root ~/overtone_results
    set -l words (commandline -opc)
    if set -l at (contains -i -- --dir $words)
        set root (string replace -r '^~' $HOME -- $words[(math $at + 1)])
    end
    for one in $root/*/journal.jsonl
        basename (dirname $one)
    end
end

complete -c overtone -f
"""


def _fish(found: list[Command]) -> str:
    lines = []
    for one in found:
        lines.append(f"complete -c overtone -n __fish_use_subcommand -a {one.name} -d '{one.about}'")
    for one in found:
        when = f"complete -c overtone -n '__fish_seen_subcommand_from {one.name}'"
        for option in one.options:
            flags = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            lines.append(f"{when} {flags}{_fish_value(option.takes)} -d '{option.about}'")
        if one.first == "experiment":
            lines.append(f"{when} -a '(__overtone_experiments)'")
            lines.append(f"{when} -a '(__fish_complete_directories)'")
        elif one.first == "dir":
            lines.append(f"{when} -a '(__fish_complete_directories)'")
        elif one.first:
            lines.append(f"{when} -a '{one.first}'")
    return _FISH + "\n".join(lines) + "\n"


def _fish_value(takes: str) -> str:
    if takes == "dir":
        return " -x -a '(__fish_complete_directories)'"
    return {"": "", "file": " -r -F", "word": " -x"}.get(takes, f" -x -a '{takes}'")


_SCRIPTS: dict[str, Callable[[list[Command]], str]] = {"bash": _bash, "fish": _fish, "zsh": _zsh}
