"""The arguments of `overtone`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from overtone.cli.exit_codes import EXPLAINED
from overtone.lazy import nearest

COMMANDS = {
    "demo": "run an example search: small networks learn digits",
    "sweep": "search the parameters of a program, which a sweep file describes",
    "ls": "list experiments",
    "show": "show an experiment and its trials, or one trial",
    "best": "show the best trial",
    "why": "explain the decisions about a trial",
    "tail": "follow a running experiment",
    "logs": "print what a trial printed",
    "export": "write all results as CSV, JSON or Parquet, or as a study of Optuna",
    "import": "create an experiment from the results of Optuna, Ray Tune, Syne Tune or a table",
    "pack": "write the best checkpoint with its config and provenance to a folder, for serving",
    "sync": "send an experiment to wandb, mlflow, comet or aim",
    "ctl": "steer a running experiment: stop, pause, resume, save, add, clone, limits, priority, note, stack",
    "ui": "open the dashboard: experiments in a browser, live",
    "report": "write an HTML file with plots, tables and the story of the best trials",
    "resume": "run the recorded command again, and continue where it ended",
    "rerun": "run one trial again, and compare its results",
    "verify": "replay the journal, and count the decisions that would differ today",
    "whatif": "estimate a finished experiment under another scheduler",
    "plan": "show what a cluster would be, its price, and what exists of it; changes nothing",
    "submit": "run a script on a cluster: start it, upload, run, bring results back, take it down",
    "up": "start a cluster: hosts, machines of a cloud, Kubernetes or Slurm",
    "exec": "run a command on the head of a cluster",
    "attach": "show a run on a cluster, and bring its results back",
    "status": "show a cluster: its nodes, its age, its cost so far and its experiments",
    "down": "take a cluster down, and verify that nothing is left of it",
    "clusters": "list the clusters that this machine knows",
    "get": "copy files from the head of a cluster",
    "put": "copy files to the head of a cluster",
    "docs": "open the documentation of this version in a browser",
    "completion": "print the completion script of a shell",
}
"""The commands and what each does; each is the module of that name, but for those in `_MODULES`."""

_MODULES = {"import": "import_results", "exec": "exec_command"}
"""The modules of commands whose names Python keeps for itself."""

_WITH_REST = ("resume", "rerun", "sweep", "submit", "exec")
"""Commands that take further arguments after "--"."""

ABOUT = """\
Ask about experiments that Overtone runs or ran, from their folders.

EXP is an experiment's folder, "." for the current folder, or a name below ~/overtone_results (below DIR
with --dir DIR). TRIAL is a trial's id or its index, from 0. A unique prefix of a name or an id is enough.
In the help of a command, the value in parentheses is the default.
"""

JSON_NOTE = """\
With --json, one JSON document is written for scripts; NaN and the infinities are the texts
"nan", "inf" and "-inf" in it. docs/cli.md lists its fields.
"""


class Arguments(argparse.Namespace):
    """The parsed arguments of a command.

    Attributes:
        command: The name of the command, such as "ls".
        run: Runs the command, and returns the exit code.
        traceback: Whether errors are shown with their traceback.
        rest: The arguments after "--".
    """

    command: str
    run: Callable[[Arguments], int]
    traceback: bool
    rest: list[str]


def parsed(argv: Sequence[str]) -> Arguments:
    """Parse and check the arguments.

    Raises:
        SystemExit: The arguments are wrong, or ask for help only; the message is already printed.
    """
    asked = next((one for one in argv if not one.startswith("-")), "")
    parser = made([asked] if asked in COMMANDS else [])
    given = list(argv)
    end = given.index("--") if asked in _WITH_REST and "--" in given else len(given)
    args, extra = parser.parse_known_args(given[:end], Arguments(rest=given[end + 1 :]))
    if extra and (asked != "submit" or any(word.startswith("-") for word in extra)):
        parser.error(f"unrecognized arguments: {' '.join(extra)}")
    elif extra:  # words after an option: argparse has ended the list of words before it
        words = [word for word in (args.script, *args.arguments, *extra) if word is not None]
        args.script, args.arguments = words[0], words[1:]
    if not getattr(args, "command", None):
        parser.print_help(sys.stderr)
        raise SystemExit(2)
    return args


def made(complete: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser; commands that are not in `complete` have only their names."""
    parser = argparse.ArgumentParser(
        prog="overtone",
        description=ABOUT,
        epilog=f"{JSON_NOTE}\n{EXPLAINED}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parser.add_argument("--traceback", action="store_true", help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", prog="overtone")
    for name, about in COMMANDS.items():
        one = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        if name in complete:
            module = _module(name)
            module.add_arguments(one)
            one.set_defaults(run=module.run)
    suggest(parser, COMMANDS)
    return parser


def suggest(parser: argparse.ArgumentParser, known: Iterable[str]) -> None:
    """Let the parser's error about an unknown command or verb end in the most similar of `known`."""
    refuse: Callable[[str], Any] = parser.error

    def error(message: str) -> Any:
        wrong = re.search(r"invalid choice: '([^']*)'", message)
        return refuse(message + (nearest(wrong[1], known) if wrong else ""))

    parser.error = error  # type: ignore[method-assign]


def _module(name: str) -> argparse.Namespace:
    """Return the command's module; typed as what argparse gives, since it is looked up by name."""
    path = f"overtone.cli.commands.{_MODULES.get(name, name)}"
    __import__(path)
    return sys.modules[path]  # type: ignore[return-value]


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from overtone.version import __version__

        print(f"overtone {__version__}")
        parser.exit()


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name an experiment."""
    parser.add_argument("experiment", metavar="EXP", help="the experiment: its folder, or its name below DIR")
    add_dir(parser)


def add_dir(parser: argparse.ArgumentParser, default: Any = None) -> None:
    """Add `--dir`, the folder in which names are looked up."""
    about = "folder of all experiments (~/overtone_results)"
    parser.add_argument("--dir", metavar="DIR", default=default, help=about)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the switch for scripts, `--json`."""
    parser.add_argument("--json", action="store_true", help="write JSON")


def add_command_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that run the recorded command again."""
    parser.add_argument("-y", "--yes", action="store_true", help="also if the folder belongs to another user")
    parser.add_argument("--dry-run", action="store_true", help="print the command, and do not run it")
    add_json(parser)


def add_goal(parser: argparse.ArgumentParser) -> None:
    """Add `--metric` and `--mode`, by which trials are ranked."""
    parser.add_argument("--metric", help="rank by this metric (the experiment's own)")
    parser.add_argument("--mode", choices=("max", "min"), help="whether a higher or a lower value is better")


def add_scope(parser: argparse.ArgumentParser) -> None:
    """Add `--scope`, the value of each trial that ranks it."""
    from overtone.analysis.summary import SCOPES

    about = "rank trials by their last value (last), their best one (all), or an average"
    parser.add_argument("--scope", choices=SCOPES, default="last", help=about)


def positive(text: str) -> int:
    """Return a count that is at least 0.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    try:
        count = int(text)
    except ValueError:
        count = -1
    if count < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return count
