"""The arguments of `overtone`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from overtone.cli.exit_codes import EXPLAINED

COMMANDS = {
    "ls": "list experiments",
    "show": "show an experiment and its trials, or one trial",
    "best": "show the best trial",
    "why": "tell which decisions led a trial to where it is",
    "tail": "follow a running experiment",
    "export": "write all results as CSV, JSON or Parquet",
    "resume": "run the recorded command again, and go on where it ended",
    "whatif": "tell what a finished experiment would have been under another scheduler",
    "completion": "print the completion script of a shell",
}
"""The commands and what each does; each is the module of that name."""

ABOUT = """\
Ask about experiments that Overtone runs or ran, from their folders.

EXP is an experiment's folder, "." for this one, or a name (or how only one of them begins) below
~/overtone_results, or below DIR with --dir DIR. TRIAL is a trial's id, how it begins, or its index.
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
    end = given.index("--") if asked == "resume" and "--" in given else len(given)
    args = parser.parse_args(given[:end], Arguments(rest=given[end + 1 :]))
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
    return parser


def _module(name: str) -> argparse.Namespace:
    """Return the command's module; typed as what argparse gives, since it is looked up by name."""
    path = f"overtone.cli.commands.{name}"
    __import__(path)
    return sys.modules[path]  # type: ignore[return-value]


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from overtone.version import __version__

        print(f"overtone {__version__}")
        parser.exit()


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """The arguments that name an experiment."""
    parser.add_argument("experiment", metavar="EXP", help="its folder, or its name below DIR")
    add_dir(parser)


def add_dir(parser: argparse.ArgumentParser) -> None:
    """Add `--dir`, the folder in which names are looked up."""
    parser.add_argument("--dir", metavar="DIR", help="where names are looked up (~/overtone_results)")


def add_json(parser: argparse.ArgumentParser) -> None:
    """The switch for scripts."""
    parser.add_argument("--json", action="store_true", help="write JSON")


def add_goal(parser: argparse.ArgumentParser) -> None:
    """Add `--metric` and `--mode`, by which trials are ranked."""
    parser.add_argument("--metric", help="rank by this metric (the experiment's own)")
    parser.add_argument("--mode", choices=("max", "min"), help="whether a higher or a lower value is better")


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
