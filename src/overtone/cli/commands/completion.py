"""`overtone completion SHELL`: a script that lets the shell complete commands, options and experiments.

The script is argcomplete's: it runs `overtone` with `_ARGCOMPLETE` in the environment, and `complete`
then answers in place of the command.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overtone.cli.arguments import COMMANDS, Arguments, made
from overtone.cli.exit_codes import OK

HOW = """\
  bash:  overtone completion bash > ~/.local/share/bash-completion/completions/overtone
  zsh:   overtone completion zsh > "${fpath[1]}/_overtone"
  fish:  overtone completion fish > ~/.config/fish/completions/overtone.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone completion`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"where to put it:\n{HOW}"
    parser.add_argument("shell", choices=("bash", "fish", "zsh"))


def run(args: Arguments) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    print(shellcode(["overtone"], shell=args.shell), end="")
    return OK


def complete() -> None:
    """Answer the shell, which gives the command line in the environment, and exit."""
    from argcomplete import autocomplete, completers

    folders = completers.DirectoriesCompleter()

    def experiments(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
        return [*_names(parsed_args.dir or "~/overtone_results"), *folders(prefix)]

    by_metavar: dict[str, Any] = {
        "DIR": folders, "FILE": completers.FilesCompleter(), "CONFIG": completers.FilesCompleter(),
        "EXP": experiments, "PATH": experiments,
    }  # fmt: skip
    words = os.environ["COMP_LINE"].split()
    parser = made([word for word in words if word in COMMANDS])
    for action in _actions(parser):
        if action.choices is None and action.nargs != 0:
            place = str(action.metavar).partition("|")[0]  # such as that of CONFIG|NAME
            action.completer = by_metavar.get(place, completers.SuppressCompleter())  # type: ignore[attr-defined]
    autocomplete(parser, always_complete_options=False)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
        else:
            yield action


def _names(root: str) -> list[str]:
    """Return the names of the experiments below a folder."""
    return [one.parent.name for one in Path(root).expanduser().glob("[!.]*/journal.jsonl")]
