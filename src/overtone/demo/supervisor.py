"""Runs the demo: the page's server, and the driver of the search, which is resumed whenever it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote

from overtone.demo import SUPERVISOR
from overtone.standard_streams import say, show
from overtone.store.folder_mark import JOURNAL
from overtone.worker.process_tree import GROUP_OF_ITS_OWN

PAUSE_S = 1.0
"""Seconds before a killed driver is resumed: the page shows that nobody drives."""

GRACE_S = 4.0
"""Seconds in which the driver may save after Ctrl-C, before it is killed."""

MOST_RESTARTS = 50
_SHOW_CURSOR = "\x1b[?25h"
_LOOK_S = 0.05
_SERVER_S = 60.0
"""Seconds in which the server may start, and the first record may come, on a busy machine."""


class Interrupted(BaseException):
    """Ctrl-C, or a signal that ends the demo."""


def run_demo(
    folder: Path,
    with_page: bool,
    open_browser: Callable[[str], bool] | None,
    waits: bool,
    options: Sequence[str] = (),
) -> int:
    """Run the search in the terminal, with its page if the extra is there; return an exit code.

    Args:
        folder: The experiment's folder, which exists and is empty.
        with_page: Whether to start the server of the page.
        open_browser: Opens an address and returns whether there is a browser; None opens none.
        waits: Whether to go on serving the page after the search, until Ctrl-C.
        options: Arguments of `overtone.demo.search`.
    """
    processes: list[subprocess.Popen[bytes]] = []
    code = 130
    command = [sys.executable, "-m", "overtone.demo.search", str(folder), *options]
    with _interruptible() as ignore_signals:
        try:
            driver = _started(command, folder, processes)  # it waits until its standard input is closed
            page = _page(folder, processes) if with_page else ""
            code = _search(command, folder, driver, processes, lambda: _open(folder, page, open_browser))
            if page and waits and code == 0:
                say(f"the search is over; the page stays until Ctrl-C: {page}")
                for process in processes:
                    process.wait()
        except Interrupted:
            pass  # Ctrl-C is also how the page is closed after a search, which is then over.
        finally:
            ignore_signals()
            _end(processes)
            if sys.stdout is not None and sys.stdout.isatty():
                show(_SHOW_CURSOR)  # a killed driver has left it hidden
    _say_where(folder, is_over=code == 0)
    return code


def _page(folder: Path, processes: list[subprocess.Popen[bytes]]) -> str:
    """Start the server, and return the page's address; "" if it does not start."""
    command = [sys.executable, "-m", "overtone", "ui", str(folder), "--demo"]
    server = _started(command, folder, processes, stdout=subprocess.PIPE)
    assert server.stdout is not None
    address = _first_line(server.stdout, _SERVER_S)
    if "#token=" not in address:
        say("the page's server did not start; the search goes on in the terminal")
        return ""
    address = f"{address}&next={quote(f'/e/{quote(folder.name)}/overview')}"
    say(f"the page of this search: {address}")
    return address


def _search(
    command: list[str],
    folder: Path,
    driver: subprocess.Popen[bytes],
    processes: list[subprocess.Popen[bytes]],
    on_start: Callable[[], object],
) -> int:
    """Let the driver begin, and resume it until the search is over; return its exit code."""
    for restarts in range(MOST_RESTARTS):
        if restarts:
            driver = _started(command, folder, processes)
        _close(driver.stdin)
        if not restarts:
            on_start()
        code = driver.wait()
        processes.remove(driver)
        if code != -signal.SIGKILL:
            return code
        show("\n", "stderr")
        say(f"the driver (process {driver.pid}) was killed; resuming the search from its journal")
        time.sleep(PAUSE_S)
    say(f"the driver was killed {MOST_RESTARTS} times, so it is not resumed again")
    return 1


def _open(folder: Path, page: str, open_browser: Callable[[str], bool] | None) -> None:
    """Open the page once there is something to see; another process draws on the terminal by then."""
    if not page or open_browser is None:
        return
    give_up_at = time.monotonic() + _SERVER_S
    while not (folder / JOURNAL).exists() and time.monotonic() < give_up_at:
        time.sleep(_LOOK_S)
    open_browser(page)


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        pipe.close()


def _started(
    command: list[str], folder: Path, processes: list[subprocess.Popen[bytes]], stdout: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a process that gets no Ctrl-C from the terminal, and ends with this one.

    It works in the experiment's folder: `python -m` imports modules of the working directory first, where
    the user may have a `queue.py`.
    """
    environment = {**os.environ, SUPERVISOR: str(os.getpid()), "PYTHONPATH": _python_path()}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=stdout, cwd=folder, env=environment, **GROUP_OF_ITS_OWN
    )
    processes.append(process)
    return process


def _python_path() -> str:
    """Return PYTHONPATH with absolute paths, and with the working directory if Overtone was found there."""
    paths = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    source = os.path.abspath(Path(__file__).parents[2])
    if os.path.realpath(source) == os.path.realpath(os.getcwd()):
        paths.append(source)
    return os.pathsep.join(paths)


def _first_line(output: IO[bytes], within_s: float) -> str:
    """Return the first line that comes in time; else ""."""
    import select

    ready, _, _ = select.select([output], [], [], within_s)
    return output.readline().decode("utf-8", "replace").strip() if ready else ""


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """End all processes: SIGINT first, so that trials save, then SIGKILL."""
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    give_up_at = time.monotonic() + GRACE_S
    for process in processes:
        try:
            process.wait(max(0.0, give_up_at - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _close(process.stdin)
        _close(process.stdout)


@contextmanager
def _interruptible() -> Iterator[Callable[[], None]]:
    """Raise `Interrupted` in the block at the first signal that ends the demo; later ones are ignored.

    Yields:
        Ignores such signals from now on until the end of the block.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def ignore() -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    def on_signal(*_: object) -> None:
        ignore()
        raise Interrupted

    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield ignore
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say_where(folder: Path, is_over: bool) -> None:
    """Print where the results are, and the commands to look at them and to go on."""
    from shlex import quote as quoted

    path = quoted(str(folder))
    lines = [f"look at the results again: overtone ui {path}"]
    if not is_over and (folder / JOURNAL).exists():
        lines.append(f"resume the search: overtone resume {path}")
    show("".join(f"{line}\n" for line in lines))
