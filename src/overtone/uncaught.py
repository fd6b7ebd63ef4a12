"""Shows an error of Overtone that a script does not catch: its message first, then the lines of the user.

The frames inside of Overtone are left out; the whole traceback goes to a file, which the last line names.
A KeyboardInterrupt that ends a run, or comes inside of Overtone or while a module is imported, is one line.
With the environment variable OVERTONE_TRACEBACK=1, and in programs with a hook of their own, Python shows
all of these as usual.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from collections.abc import Callable
    from traceback import TracebackException
    from types import TracebackType
    from typing import Any

WHOLE = "OVERTONE_TRACEBACK"
"""The environment variable that asks for whole tracebacks."""

MOST_KEPT = 200
"""Maximum number of files with tracebacks; the oldest are deleted."""

_NOTEBOOK = "/IPython/core/"  # the frames that run a cell
_IMPORT = "<frozen importlib"  # the frames that import a module
_PACKAGE = __file__[: -len("uncaught.py")]


def install() -> None:
    """Set the hook for uncaught exceptions, unless the program has its own hook."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _Hook(sys.excepthook)


def explain_uncaught(kind: type[BaseException]) -> None:
    """Let uncaught exceptions of this class be shown in short, also in notebooks.

    IPython asks an exception for its lines.
    """
    kind._render_traceback_ = _in_notebook  # type: ignore[attr-defined]


def interrupted(text: str) -> KeyboardInterrupt:
    """Return an exception to raise; a script that does not catch it ends with `text`, without a traceback."""
    error = KeyboardInterrupt(text)
    error.is_explained = True  # type: ignore[attr-defined]
    error._render_traceback_ = lambda: [f"overtone: {text}"]  # type: ignore[attr-defined]  # IPython asks
    return error


def shown(error: BaseException) -> list[str]:
    """Return the lines about an error: its message, and the frames outside of Overtone."""
    from traceback import TracebackException

    found = TracebackException.from_exception(error)
    _leave_out(found)
    text = "".join(found.format_exception_only()).rstrip()
    lines = [*text.split("\n"), ""]
    cause = found.__cause__ or (None if found.__suppress_context__ else found.__context__)
    if cause is not None:
        lines += ["Caused by:", *"".join(cause.format()).rstrip().split("\n"), ""]
    if found.stack:
        lines += ["Traceback (most recent call last):", *"".join(found.stack.format()).rstrip().split("\n")]
    return lines


class _Hook:
    """A hook for uncaught exceptions; `before` shows those that are not Overtone's."""

    def __init__(self, before: Callable[..., Any]) -> None:
        self._before = before

    def __call__(
        self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        if not _is_whole():
            try:
                lines = _lines(error, traceback)
                if lines:
                    sys.stderr.write("\n".join([*lines, ""]))
                    return
            except Exception:  # stderr cannot show it.
                pass
        self._before(kind, error, traceback)


def _lines(error: BaseException, traceback: TracebackType | None) -> list[str]:
    """Return the lines about an exception that is explained; [] for others."""
    if isinstance(error, KeyboardInterrupt):
        if getattr(error, "is_explained", False):
            return [f"overtone: {error}"]
        at = ""
        while traceback is not None:
            frame, filename = traceback.tb_frame, traceback.tb_frame.f_code.co_filename
            is_import = frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__"
            if is_import or _is_own(filename) or filename.startswith(_IMPORT):
                return [f"overtone: interrupted{at}"]
            at = f" at {filename}:{traceback.tb_lineno}"
            traceback = traceback.tb_next
        return []
    is_explained = getattr(type(error), "_render_traceback_", None) is _in_notebook
    return _in_short(error) if is_explained else []


def _in_notebook(error: BaseException) -> list[str]:
    if _is_whole():
        from traceback import format_exception

        return "".join(format_exception(error)).rstrip().split("\n")
    return _in_short(error)


def _in_short(error: BaseException) -> list[str]:
    """Keep the whole traceback, and return the lines about an error with one that says where that is."""
    try:
        where = f"The whole traceback is in {_kept(error)}"
    except OSError:  # for example, the cache cannot be written
        where = f"The whole traceback is shown with {WHOLE}=1"
    return [*shown(error), where]


def _is_whole() -> bool:
    import os  # not above: `from overtone import tune` loads this module

    return os.environ.get(WHOLE, "0") not in ("", "0")


def _is_own(filename: str) -> bool:
    return filename.startswith(_PACKAGE)


def _leave_out(found: TracebackException | None) -> None:
    """Remove the frames of Overtone and of IPython from an exception and from those that caused it."""
    if found is None:
        return
    found.stack[:] = [
        frame for frame in found.stack
        if not _is_own(frame.filename)
        and _NOTEBOOK not in frame.filename
        and (frame.filename, frame.name) != ("<string>", "__init__")  # of a dataclass
    ]  # fmt: skip
    _leave_out(found.__cause__)
    _leave_out(found.__context__)


def _kept(error: BaseException) -> str:
    """Write the whole traceback to a file in the user's cache, and return its path.

    Raises:
        OSError: The user has no home, or the file cannot be written.
    """
    import os
    import time
    from contextlib import suppress
    from traceback import format_exception

    from overtone.cache_folder import cache_folder

    folder = os.path.join(cache_folder(), "tracebacks")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, f"{time.strftime('%Y-%m-%d_%H-%M-%S')}_{os.getpid()}.txt")
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("".join(format_exception(type(error), error, error.__traceback__)))
    for name in sorted(os.listdir(folder))[:-MOST_KEPT]:
        with suppress(FileNotFoundError):  # Another process deleted it.
            os.unlink(os.path.join(folder, name))
    return path
