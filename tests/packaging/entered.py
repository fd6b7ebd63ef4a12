"""List the files of the package that a result and a resume enter: files of which a function is called.

    python tests/packaging/entered.py

A profiler follows the driver, the trial and the processes that write files, on the local engine:

- A result in steady state, from the call of `tune.report` until it is in all files of its trial. A file counts
  if each of some results calls a function in it that idle time does not call: a driver without news looks
  around four times a second.
- A resume after the driver was killed, from the call of `tune.run` until its first event, in the driver. A
  file counts if the resume calls a function in it that a new run does not call from its beginning to its end.

Importing a module does not count. Event files are followed if tensorboardX is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
FIRST, LAST = 50, 55
"""The results that are followed."""

BEGIN, RESUME, IDLE = 1, 2, 3
"""What is followed besides results."""

Call = tuple[str, str]
"""A file and a function in it."""

PROFILER = """
import mmap, os, sys, threading

with open({gate!r}, "r+b") as file:
    gate = mmap.mmap(file.fileno(), 1)
log, package, known = {log!r}, {package!r}, set()

def is_in_import(frame):
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(package):
            return True
        frame = frame.f_back
    return False

def on_call(frame, event, _):
    code, what = frame.f_code, gate[0]
    if event != "call" or not what or not code.co_filename.startswith(package):
        return
    key = what, os.getpid(), code
    if key not in known and code.co_flags & 1 and not is_in_import(frame):  # a class's body has no such flag
        known.add(key)
        file, name = code.co_filename[len(package):], "%s:%d" % (code.co_name, code.co_firstlineno)
        fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(fd, ("%d %d %s %s\\n" % (what, os.getpid(), file, name)).encode())
        os.close(fd)

threading.setprofile(on_call)
sys.setprofile(on_call)
"""

SEARCH = """
import os, signal, time
from pathlib import Path

from overtone import tune
from overtone.core.protocols import Observer

ROOT = Path({root!r})

def sizes():
    files = [one for name in ("result.json", "progress.csv", "events.*") for one in ROOT.glob("exp/*/" + name)]
    return [file.stat().st_size for file in files]

def train(config):
    from sitecustomize import gate
    if gate[0] == {begin}:
        tune.report(loss=1.0)
        return
    (ROOT / "trial").write_text(str(os.getpid()))
    for t in range(1, {last} + 1):
        if t == {first}:
            while len(sizes()) < {n_files}:
                time.sleep(0.1)
            time.sleep(3)
        before = sizes()
        gate[0] = t if t >= {first} else 0
        tune.report(loss=1.0 / t)
        while gate[0] and not all(new > old for new, old in zip(sizes(), before, strict=True)):
            time.sleep(0.01)
        if gate[0]:
            gate[0] = {idle}
            time.sleep(1.2)
    os.kill(int((ROOT / "driver").read_text()), signal.SIGKILL)
    signal.pause()

class First(Observer):
    def on_record(self, record):
        if (ROOT / "what").read_text() == "{resume}":
            os._exit(0)

if __name__ == "__main__":
    (ROOT / "driver").write_text(str(os.getpid()))
    from sitecustomize import gate
    what = gate[0] = int((ROOT / "what").read_text())
    tune.run(
        train, name="new" if what == {begin} else "exp", storage_path=str(ROOT), verbose=0, metric="loss",
        mode="min", resume=what == {resume}, callbacks=[First()] if what else [],
    )
"""


def calls(root: Path) -> dict[int, dict[str, set[Call]]]:
    """Return the calls of a search, its resume and a new run: for each result or phase, by process."""
    names = {"root": str(root), "gate": str(root / "gate"), "log": str(root / "log")}
    numbers = {"first": FIRST, "last": LAST, "idle": IDLE, "begin": BEGIN, "resume": RESUME}
    numbers["n_files"] = 2 + (find_spec("tensorboardX") is not None)
    package = f"{SOURCE / 'overtone'}{os.sep}"
    (root / "sitecustomize.py").write_text(PROFILER.format(**names, package=package))
    (root / "search.py").write_text(SEARCH.format(**names, **numbers))
    processes: dict[str, str] = {}
    for what in (0, RESUME, BEGIN):
        (root / "gate").write_bytes(b"\0")
        (root / "what").write_text(str(what))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(SOURCE)])}
        subprocess.run(
            [sys.executable, str(root / "search.py")], env=environment, timeout=120, capture_output=True
        )
        processes |= {(root / name).read_text(): name for name in ("driver", "trial")}
    found: dict[int, dict[str, set[Call]]] = defaultdict(lambda: defaultdict(set))
    for line in (root / "log").read_text().splitlines():
        number, pid, file, function = line.split()
        name = processes.setdefault(pid, f"process that writes files ({len(processes)})")
        found[int(number)][name].add((file, function))
    return found


def files_of(found: set[Call]) -> set[str]:
    return {file for file, _ in found}


def entered() -> tuple[dict[str, set[str]], set[str]]:
    """Return the files that a result enters, by process, and those that a resume enters."""
    with tempfile.TemporaryDirectory(prefix="overtone_entered_", ignore_cleanup_errors=True) as root:
        found = calls(Path(root))
    idle, results = found[IDLE], [found[t] for t in range(FIRST, LAST + 1)]
    result = {
        name: files_of(set.intersection(*(one[name] for one in results)) - idle[name]) for name in results[0]
    }
    return result, files_of(found[RESUME]["driver"] - found[BEGIN]["driver"])


def show(what: str, files: set[str]) -> None:
    print(f"{what}: {len(files)} files", *sorted(files), sep="\n    ")


def main() -> None:
    result, resume = entered()
    for name in sorted(result, key=["trial", "driver"].__contains__, reverse=True):
        show(f"A result in the {name}", result[name])
    print(f"A result in all: {len(set().union(*result.values()))} files\n")
    show("A resume", resume)


if __name__ == "__main__":
    main()
