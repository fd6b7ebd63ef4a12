"""The output of a command: standard output, a file that is written whole, a device or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from overtone.errors import OvertoneError


@contextmanager
def open_output(output: str | None, *, is_binary: bool = False) -> Iterator[IO[Any]]:
    """Open where `-o` points to.

    A regular file is replaced when all is written; if the path is a link, the file that it points to. Devices
    and pipes, such as /dev/stdout, are written to, never replaced.

    Args:
        output: A path; "-" or None for standard output.
        is_binary: Whether bytes are written, not text.

    Raises:
        OvertoneError: The path is a folder, its folder is missing, or the file cannot be made or written.
    """
    if output in (None, "-"):
        yield sys.stdout.buffer if is_binary else sys.stdout
        return
    assert output is not None
    if os.path.isdir(output):
        raise OvertoneError(f"{output} is a folder: name a file in it")
    if not os.path.isdir(os.path.dirname(output) or "."):
        raise OvertoneError(f"there is no folder {os.path.dirname(output)} for {os.path.basename(output)}")
    how: dict[str, Any] = {"mode": "wb"}
    if not is_binary:
        how = {"mode": "w", "encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
    if os.path.exists(output) and not os.path.isfile(output):
        with open(output, **how) as file:
            yield file
        return
    target = os.path.realpath(output)
    draft = f"{target}.{os.getpid()}.tmp"
    try:
        with ExitStack() as stack:
            try:
                draft_file: IO[Any] = stack.enter_context(open(draft, **how))
            except OSError as error:
                raise _unwritable(output, error) from error
            yield draft_file
        os.replace(draft, target)
    except BaseException as error:
        if os.path.exists(draft):
            os.unlink(draft)
        if isinstance(error, OSError) and error.filename is None:  # A write, such as on a full disk.
            raise _unwritable(output, error) from error
        raise


def _unwritable(output: str, error: OSError) -> OvertoneError:
    return OvertoneError(f"{output} cannot be written: {error.strerror or error}")
