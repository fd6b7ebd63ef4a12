"""The question after Ctrl-C on a screen with a table that is redrawn: it leaves nothing behind."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals of Linux and macOS")

COLUMNS = 50
SCRIPT = """
from overtone.cluster.following import Screen
from overtone.cluster.interrupts import ask

erase = b"\\r\\x1b[2K" + b"\\x1b[1A\\x1b[2K" * 2
screen = Screen(1)
screen.write(b"before\\n\\x1b[?25lold\\nold\\nold")
screen.leave(True)
choice = ask("overtone attach lab.yaml", is_erased=screen.has_table)
screen.come_back()
screen.write(erase + b"new\\nnew\\nnew" + erase + choice.encode() + b"\\x1b[?25h\\n")
"""


def rows_shown(output: str) -> list[str]:
    """The rows of a terminal after this output, with what of it the program uses."""
    rows, y, x = [""], 0, 0
    for part in re.findall(r"\x1b\[[?0-9]*[A-Za-z]|[\s\S]", output):
        if part == "\n":
            y += 1
        elif part == "\r":
            x = 0
        elif part.endswith("A"):
            y -= int(part[2:-1])
        elif part == "\x1b[2K":
            rows[y] = ""
        elif part == "\x1b[J":
            rows[y:] = [rows[y][:x]]
        elif not part.startswith("\x1b"):
            if x == COLUMNS:
                y, x = y + 1, 0
            rows += [""] * (y + 1 - len(rows))
            rows[y] = rows[y][:x].ljust(x) + part + rows[y][x + 1 :]
            x += 1
        rows += [""] * (y + 1 - len(rows))
    return [row for row in rows if row]


@pytest.mark.parametrize(("typed", "choice"), [("c\n", "continue"), ("what?\n\ns\n", "stop"), ("\x04", "stop")])
def test_the_table_is_redrawn_in_its_place(typed: str, choice: str) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 20, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
        preexec_fn=lambda: (os.setsid(), fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)),
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    for answer in typed.splitlines(keepends=True):
        n_asked = seen.count(b"ontinue? ")
        while seen.count(b"ontinue? ") == n_asked:
            seen += os.read(ours, 4096)
        os.write(ours, answer.encode())
    while True:
        try:
            seen += os.read(ours, 4096)
        except OSError:
            break
    os.close(ours)
    assert process.wait(60) == 0, seen
    assert rows_shown(seen.decode()) == ["before", choice]
