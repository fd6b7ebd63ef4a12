"""Tracebacks of the user's code, without the frames of Overtone that called it."""

from __future__ import annotations

import os
from types import TracebackType

_WORKER = os.path.dirname(__file__) + os.sep
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep

LONGEST_ERROR = 500


def user_part(traceback: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the first frame outside this package on."""
    return _after(traceback, _WORKER)


def user_part_in_rank(traceback: TracebackType | None) -> TracebackType | None:
    """Return the same for a rank, where a trainer of Overtone may have called the user's code.

    An error of that trainer itself keeps the trainer's frames.
    """
    return _after(traceback, _PACKAGE) or user_part(traceback)


def _after(traceback: TracebackType | None, folder: str) -> TracebackType | None:
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(folder):
        traceback = traceback.tb_next
    return traceback


def in_one_line(error: BaseException) -> str:
    """Return the type and the first line of an error."""
    try:
        text = str(error).strip()
    except Exception:  # a user's class may do anything
        text = ""
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
