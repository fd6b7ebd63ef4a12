"""The command line: `overtone COMMAND`.

A command is one file in `commands` with `add_arguments(parser)` and `run(args) -> exit code`; the file
is loaded when its command is called.
"""

from __future__ import annotations

import os
import sys

from overtone.cli.exit_codes import DAMAGED, INTERRUPTED, OK, READER_GONE, WRONG

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from collections.abc import Sequence

    from overtone.cli.arguments import Arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command; returns the exit code that `overtone --help` explains.

    Args:
        argv: The arguments; those of this process where not given.
    """
    if {"_ARGCOMPLETE", "COMP_LINE"} <= os.environ.keys():
        from overtone.cli.commands.completion import complete

        complete()
    given = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Unicode gets it spelled out
    try:
        from overtone.cli.arguments import parsed

        args = parsed(given)
    except SystemExit as end:  # argparse has said it
        return end.code if isinstance(end.code, int) else OK
    except KeyboardInterrupt:
        return INTERRUPTED
    try:
        code = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
        return READER_GONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if args.traceback:
            raise
        return _tell(error, args)
    return code


def _tell(error: Exception, args: Arguments) -> int:
    """Say on stderr what went wrong, in a line; its exit code."""
    from overtone.cli.exit_codes import NotFoundError
    from overtone.errors import OvertoneError, StorageError
    from overtone.observers.display.plain_text import clean

    if isinstance(error, StorageError) and not isinstance(error.__cause__, OSError):
        code, text = DAMAGED, str(error)
    elif isinstance(error, (OvertoneError, NotFoundError)):
        code, text = WRONG, str(error)
    elif isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        code, text = WRONG, f"{name}{error.strerror or error}"
    else:
        what = f"{type(error).__name__}: {error}"[:300]
        code = DAMAGED
        text = (
            f"what is recorded there makes no sense, or this is a mistake in Overtone ({what}); "
            f"overtone --traceback {args.command} ... shows where"
        )
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
    lines = text.split("\n") if getattr(error, "has_lines", False) else [text]
    sys.stderr.write("overtone: " + "\n".join(map(clean, lines)) + "\n")
    return code


def _forget_stdout() -> None:
    """See to it that the interpreter does not complain at its end that nobody reads."""
    import os

    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # no real file, as in tests
        pass
