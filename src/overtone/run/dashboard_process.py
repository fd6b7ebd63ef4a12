"""Starts the dashboard of a run: a process of its own, which neither ends with the run nor ends it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from overtone.standard_streams import say

_PATIENCE_S = 15.0
"""Seconds that the end of a run waits for the address."""

_START_S = 60.0
"""Seconds in which the server may start: a busy machine takes long, and the run does not wait for it."""

# The script may have put Overtone on its path by itself; at the end of the path, nothing is shadowed.
_START = "import sys; sys.path.append(sys.argv.pop(1)); from overtone.cli import main; sys.exit(main())"

_LEFT_OUT = ("PYTHONINSPECT", "PYTHONSTARTUP", "COMP_LINE", "_ARGCOMPLETE")


class DashboardProcess:
    """The dashboard of an experiment; its address is printed as soon as it is known.

    The server belongs to the folder of all experiments, so a second run uses the first one's. If it cannot
    start, a line says why, and the run continues.

    Args:
        folder: The experiment's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._teller = threading.Thread(target=self._start, name="overtone-dashboard", daemon=True)
        self._teller.start()

    def close(self) -> None:
        """Wait until the address is printed, if it is not yet."""
        self._teller.join(_PATIENCE_S)

    def _start(self) -> None:
        source = os.fspath(Path(__file__).parents[2])
        command = [sys.executable, "-c", _START, source, "ui", os.fspath(self._folder.parent), "--background"]
        environment = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd="/",
                start_new_session=True,
                timeout=_START_S,
                check=False,
            )
            text = done.stdout.decode("utf-8", "replace").strip()
        except subprocess.TimeoutExpired:
            text = f"its server did not start within {_START_S:.0f} s"
        except (OSError, subprocess.SubprocessError) as error:
            text = f"{type(error).__name__}: {error}"
        last = text.rpartition("\n")[2]
        if last.startswith("http") and "#token=" in last:
            say(f"dashboard: {last}")  # 72 columns after a line break, where a live table breaks the line.
        else:
            say(f"no dashboard: {last.removeprefix('overtone: ') or 'its process ended'}; the run continues")
