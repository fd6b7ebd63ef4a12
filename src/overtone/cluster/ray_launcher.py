"""Runs Ray's launcher of this Python, `ray up` and `ray down`, on a finished cluster YAML.

Its output goes to `ray.log` in the cluster's folder, and its steps to the progress.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from overtone.cluster.progress import Progress
from overtone.cluster.ray_form import yaml_text
from overtone.cluster.remote import RemoteError, last_lines
from overtone.cluster.state import State
from overtone.errors import MissingPackageError
from overtone.regular_files import replace_file

UP_S = 3600.0
"""Seconds that a start may take with its setup commands."""
DOWN_S = 900.0

_STEP = re.compile(r"\[\d/\d\] *(.+)")
_COMMAND = re.compile(r"\((\d+)/(\d+)\) *(.+)")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def up(
    ray: Mapping[str, Any],
    state: State,
    progress: Progress,
    *,
    restarts: bool = True,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run `ray up`. All nodes that it starts carry the cluster's name as Ray's tags have it.

    Args:
        ray: The cluster YAML.
        state: The cluster's records.
        progress: Gets a note for each of Ray's steps.
        restarts: Whether Ray on a head that is up is started again.
        environment: Variables for Ray's launcher, such as `AWS_PROFILE`.

    Raises:
        MissingPackageError: Ray's launcher is not installed.
        RemoteError: It failed; the message has its last 20 lines.
    """
    options = ["--no-config-cache", "--yes", *([] if restarts else ["--no-restart"])]
    _run("up", options, ray, state, progress, UP_S, environment or {})


def down(
    ray: Mapping[str, Any], state: State, progress: Progress, *, environment: Mapping[str, str] | None = None
) -> None:
    """Run `ray down`. It may leave something: the provider verifies.

    Raises:
        MissingPackageError: Ray's launcher is not installed.
        RemoteError: It failed; the message has its last 20 lines.
    """
    _run("down", ["--yes"], ray, state, progress, DOWN_S, environment or {})


def _run(
    verb: str,
    options: list[str],
    ray: Mapping[str, Any],
    state: State,
    progress: Progress,
    timeout_s: float,
    environment: Mapping[str, str],
) -> None:
    yaml, log = state.folder / "ray.yaml", state.folder / "ray.log"
    replace_file(yaml, yaml_text(dict(ray)).encode())
    os.chmod(yaml, 0o600)
    began = time.monotonic()
    command = [*_ray(), verb, str(yaml), *options, "--log-style=pretty", "--log-color=false"]
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with open(fd, "wb") as kept, _process(command, environment) as process:
        assert process.stdout is not None
        with _ended_after(process, timeout_s):
            for line in process.stdout:
                kept.write(line)
                kept.flush()
                _note(line, progress)
            process.wait()
    state.record({"event": f"ray {verb}", "status": process.returncode, "took_s": time.monotonic() - began})
    if process.returncode:
        why = f"ended with {process.returncode}"
        if time.monotonic() - began >= timeout_s:
            why = f"took more than {timeout_s / 60:.0f} min"
        raise RemoteError(f"ray {verb} {why}; the last lines of {log}:{_tail(log)}")


def _ray() -> list[str]:
    """Return the command of this Python's Ray."""
    try:
        import ray.scripts.scripts
    except ImportError:
        raise MissingPackageError("ray[default]", "ray", "starting machines") from None
    return [sys.executable, "-m", ray.scripts.scripts.__name__]


@contextmanager
def _process(command: list[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start Ray's launcher in a session of its own; an exception ends it with all its ssh processes."""
    variables = {
        "PYTHONUNBUFFERED": "1",
        "RAY_UP_enable_autoscaler_v2": "1",
        "RAY_USAGE_STATS_ENABLED": os.environ.get("RAY_USAGE_STATS_ENABLED", "0"),
        **environment,
    }
    process = subprocess.Popen(
        command,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            _end_session(process)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def _ended_after(process: subprocess.Popen[bytes], timeout_s: float) -> Iterator[None]:
    from threading import Timer

    timer = Timer(timeout_s, _end_session, (process,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end_session(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return


def _note(line: bytes, progress: Progress) -> None:
    text = _COLOUR.sub("", line.decode(errors="replace")).strip()
    step = _STEP.search(text) or _COMMAND.search(text)
    if step:
        progress.note(step[step.lastindex or 1])


def _tail(log: Path) -> str:
    with open(log, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 65536))
        return last_lines(_COLOUR.sub("", file.read().decode(errors="replace")).encode())
