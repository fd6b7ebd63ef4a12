"""How the time and memory of reading a journal grow with its size, whatever it holds.

    python benchmarks/reading.py                      1, 2, 4, ... 64 MB of each shape
    python benchmarks/reading.py --most 8             ... up to 8 MB

Each shape and size is read three times or more often, each time in a process that has read nothing before:
memory that is used again takes no page faults. The least CPU time counts, and the largest resident memory
beyond that after the imports. A doubling of the size should take at most
2.5 times the time. The memory should be at most four times the longest line; `nested_metrics` takes more,
since its line becomes a list of small dicts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from overtone.core.messages import Record, Reported
from overtone.core.sizes import LONGEST_LINE
from overtone.journal.codec import Codec
from overtone.journal.formats import FORMAT
from overtone.journal.reader import follow, read
from overtone.journal.seals import sealed

MB = 1 << 20
HEAD = Codec().encode_fact(1, "header", {"format": FORMAT})
TRIAL = "358bb_00000"
MOST_RATIO = 2.5
LEAST_S = 0.5
PIECE_BYTES = 1 << 12


def filled(piece: bytes, size: int) -> bytes:
    """`piece` again and again, `size` bytes in all."""
    return (piece * (size // len(piece) + 1))[:size]


def long_line(size: int) -> bytes:
    """A report of one long text."""
    line = Codec().encode(Record(2, Reported(1.0, TRIAL, 0, 1, {"loss": 1.0, "text": ""})))
    return Codec().encode(
        Record(2, Reported(1.0, TRIAL, 0, 1, {"loss": 1.0, "text": "x" * (size - len(line))}))
    )


def nested_metrics(size: int) -> bytes:
    """A report that led to a config with many keys that are called metrics."""
    config = b",".join([b'{"x":1,"metrics":2}'] * (size // 20 - 20))
    return sealed(
        b'{"n":2,"e":"reported","time":1.0,"trial_id":"%b","attempt":0,"t":1,"choices":[{"c":"ruled",'
        b'"trial_id":"%b","t":1,"what":"restart","config":[%b]}],"metrics":{"loss":0.5}'
        % (TRIAL.encode(), TRIAL.encode(), config)
    )


def small_lines(size: int) -> bytes:
    """Plain reports."""
    encode, lines, total, n = Codec().encode, [], 0, 2
    while total < size:
        metrics = {"loss": 1 / n, "training_iteration": n}
        lines.append(encode(Record(n, Reported(float(n), TRIAL, 0, n, metrics))))
        total += len(lines[-1])
        n += 1
    return b"".join(lines)


SHAPES: dict[str, Callable[[int], bytes]] = {
    "torn": lambda size: filled(b"x", size - len(HEAD)),
    "torn_beginnings": lambda size: filled(b'{"n":', size - len(HEAD)),
    "hole_lines": lambda size: filled(bytes(16) + b'{"n":2,"e":"x\n', size),
    "nested_metrics": nested_metrics,
    "line": long_line,
    "small_lines": small_lines,
    "pieces": long_line,
}


def follow_pieces(path: Path, data: bytes) -> int:
    """Follow a journal that grows by small pieces, as it is written."""
    path.write_bytes(HEAD)
    at = 0
    with path.open("ab", buffering=0) as file:

        def grow(_: float) -> None:
            nonlocal at
            at += file.write(data[at : at + PIECE_BYTES])

        return sum(1 for _ in follow(path, lambda: at >= len(data), sleep=grow, lazy=True))


def measure(shape: str, size: int) -> dict[str, float]:
    """Read one file, each time in a process that has read nothing before; the least of all runs."""
    from multiprocessing import get_context

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        subprocess.run([sys.executable, __file__, "--write", shape, str(size), str(path)], check=True)
        data = path.read_bytes()[len(HEAD) :] if shape == "pieces" else b""
        found: list[tuple[float, float]] = []
        while len(found) < 3 or (sum(s for s, _ in found) < LEAST_S and len(found) < 20):
            with get_context("fork").Pool(1) as pool:
                found.append(pool.apply(read_once, (path, data)))
    return {"s": min(s for s, _ in found), "mb": max(mb for _, mb in found)}


def read_once(path: Path, data: bytes) -> tuple[float, float]:
    """Return the CPU time in seconds and the memory in MB of one read, or of following `data`."""
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    if data:
        follow_pieces(path, data)
    else:
        deque(read(path), maxlen=0)
    took = time.process_time() - began
    return took, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def child(shape: str, size: int) -> dict[str, float]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--one", shape, str(size)]
    found: dict[str, float] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=LONGEST_LINE // MB, help="the largest size, in MB (64)")
    parser.add_argument("--shape", choices=SHAPES, help="this one alone")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        shape, size, path = arguments.write
        Path(path).write_bytes(HEAD + SHAPES[shape](int(size)))
        return 0
    if arguments.one:
        print(json.dumps(measure(arguments.one[0], int(arguments.one[1]))))
        return 0
    worst = 0.0
    for shape in [arguments.shape] if arguments.shape else SHAPES:
        size, before = 1, 0.0
        while size <= arguments.most:
            found = child(shape, size * MB)
            for _ in range(2):
                if before and found["s"] > MOST_RATIO * before:  # other processes disturb: keep the least
                    found = min(found, child(shape, size * MB), key=lambda one: one["s"])
            ratio = found["s"] / before if before else 0.0
            worst = max(worst, ratio)
            shown = f"{ratio:5.2f} x" if ratio else "       "
            took = f"{found['s']:8.4f} s {shown} {found['mb']:7.1f} MB of memory"
            print(f"{shape:16} {size:3} MB {took}", flush=True)
            size, before = size * 2, found["s"]
    print(f"largest ratio for a doubling: {worst:.2f} (at most {MOST_RATIO})")
    return int(worst > MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
