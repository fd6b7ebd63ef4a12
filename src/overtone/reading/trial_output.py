"""The output of a trial in its folder: kept by default, or in the files that `log_to_file` names.

Kept output has two parts: lines are added to `NEWEST`, which becomes `OLDER` once it is full. Both begin
with a heading, and a heading precedes each change between stdout and stderr.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NEWEST, OLDER = "output.overtone.txt", "output.1.overtone.txt"
"""The files of kept output in a trial's folder."""

PART_BYTES = 1 << 20
"""Size from which a part is full: together, the parts always have the last 1 MB."""

STREAMS = ("stdout", "stderr")

LONGEST_HEADING = 400

_HEADING = re.compile(rb"==> (stdout|stderr) of trial (.{1,300}) <==")


def heading(trial_id: str, stream: str) -> bytes:
    """Return the line before output of a stream."""
    return f"==> {stream} of trial {trial_id} <==\n".encode()


def heading_in(line: bytes, trial_id: str) -> str:
    """Return the stream that a line is the heading of; "" if it is not a heading for this trial."""
    found = _HEADING.fullmatch(line.rstrip(b"\n"))
    return found[1].decode() if found is not None and found[2] == trial_id.encode() else ""


def is_kept_output(start: bytes, trial_id: str) -> bool:
    """Return whether a file with this beginning is kept output of the trial; an empty file is.

    A trial works in its folder, and may have a file of that name itself, which is never changed.
    """
    return not start or bool(heading_in(start.partition(b"\n")[0], trial_id))


def log_files(header: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the names of a trial's files for stdout and stderr, from a journal's header.

    Returns:
        None if output is kept, or not captured.
    """
    options = header.get("parts", {}).get("options", {})
    return names_of(options.get("log_to_file") if isinstance(options, Mapping) else None)


def names_of(asked: Any) -> tuple[str, str] | None:
    """Return the names of the files for stdout and stderr that `log_to_file` means; None for none."""
    if not asked:
        return None
    if asked is True:
        return STREAMS
    return (asked, asked) if isinstance(asked, str) else (str(asked[0]), str(asked[-1]))
