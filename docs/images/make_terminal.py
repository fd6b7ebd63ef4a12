"""Makes terminal.svg: the demo runs in a terminal of its own, and its screen is drawn after a while.

.venv/bin/python docs/images/make_terminal.py [SECONDS]
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
COLUMNS, ROWS = 110, 32
_STEP = re.compile(r"\x1b\[(\d*)([AK])|\x1b\[[?\d;]*[hlJ]|(\r\n|\n)|(\r)|(\x1b\[[\d;]*m)|([^\x1b\r\n])")


def main() -> None:
    after_s = float(sys.argv[1]) if len(sys.argv) > 1 else 15.0
    said = recorded([sys.executable, str(HERE.parents[1] / "examples" / "digits.py")], after_s)
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ make demo", style="bold"))
    for line in screen(said)[-ROWS:]:
        console.print(Text.from_ansi(line), no_wrap=True, crop=True)
    console.save_svg(str(HERE / "terminal.svg"), title="overtone")


def recorded(command: list[str], after_s: float) -> str:
    """What the command writes to a terminal in its first `after_s` seconds; it is ended then."""
    with tempfile.TemporaryDirectory() as home:
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ |= {"HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
            os.execv(command[0], command)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        said, until = b"", time.monotonic() + after_s
        while time.monotonic() < until:
            if select.select([terminal], [], [], 0.1)[0]:
                said += os.read(terminal, 65536)
        os.write(terminal, b"\x03")  # as a user would end it
        try:
            while os.read(terminal, 65536):
                pass
        except OSError:
            pass  # the terminal's other end is closed: it has ended
        os.waitpid(pid, 0)
        return said.decode("utf-8", "replace").replace(home, "~")


def screen(said: str) -> list[str]:
    """The lines on the screen after `said`, with their colours; enough of a terminal for a live table."""
    lines, at, is_fresh = [""], 0, False
    for match in _STEP.finditer(said):
        count, move, newline, back, colour, character = match.groups()
        if newline:
            at, is_fresh = at + 1, False
            lines += [""] * (at + 1 - len(lines))
        elif back:
            is_fresh = True  # what comes next is written over the line
        elif move == "A":
            at = max(0, at - int(count or 1))
        elif move == "K":
            lines[at], is_fresh = "", False
        elif colour or character:
            if is_fresh:
                lines[at], is_fresh = "", False
            lines[at] += colour or character
    return [line for line in lines if line]


if __name__ == "__main__":
    main()
