"""The exit codes, and the error for missing things."""

from __future__ import annotations

from overtone.errors import OvertoneError

OK = 0
WRONG = 1
USAGE = 2
DAMAGED = 3
INTERRUPTED = 130
READER_GONE = 141

EXPLAINED = f"""\
exit codes:
  {OK:<4} done
  {WRONG:<4} not possible: no such experiment or trial, no such metric, a folder that may not be read;
       or `verify` found a difference
  {USAGE:<4} the command line is wrong
  {DAMAGED:<4} the experiment's journal is damaged, or of a newer version
  {INTERRUPTED:<4} ended by Ctrl-C
  {READER_GONE:<4} the reader of the output closed it, as `head` does
"""


class NotFoundError(OvertoneError):
    """An error: the requested experiment, trial or result does not exist."""
