"""The scripts that are timed, each in a process of its own: prints one line of JSON.

`throughput.py` starts them; `peer_ray.py` runs the same functions on Ray Tune. Only dialect
that both know is used.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def trials(size: int, reuse: bool) -> dict[str, float]:
    """Trials a second: `size` trials that report once.

    Also what a trial costs this process, the driver, in microseconds of CPU time: on a machine
    that others use too, this tells versions apart when trials a second do not.
    """
    import light

    began, busy = time.perf_counter(), time.process_time()
    run(light.once, {}, size, reuse_actors=reuse)
    took, used = time.perf_counter() - began, time.process_time() - busy
    return {"value": size / took, "driver_us": used / size * 1e6}


def results(size: int, tensorboard: bool) -> dict[str, float]:
    """Results a second: two trials that report `size` times each, until everything is written."""
    import light

    began = time.perf_counter()
    folder = run(light.chatty, {"results": size}, 2, tensorboard=tensorboard)
    took = time.perf_counter() - began
    return {"value": 2 * size / took, "lost": lost(folder, 2 * size, tensorboard)}


def report_cost(size: int, waits: bool) -> dict[str, float]:
    """Seconds that `report()` takes, with both slots busy.

    Args:
        waits: Whether each report must be ruled on before it returns (a stop criterion that
            is a function), or may run ahead.
    """
    import light
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        run(light.timed, {"results": size, "folder": folder}, 2, stop=never if waits else None)
        took = np.concatenate([np.load(file) for file in Path(folder).glob("*.npy")])
    return {"value": float(np.median(took)), "p99": float(np.quantile(took, 0.99))}


def memory(size: int) -> dict[str, float]:
    """The largest memory (bytes) that this process, the driver, had in a search of `size` trials."""
    import light

    run(light.once, {}, size, reuse_actors=True)
    return {"value": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0}


def imports() -> dict[str, float]:
    """Memory (bytes) after importing numpy and pandas: what the user's script has anyway."""
    import numpy as np  # noqa: F401
    import pandas as pd  # noqa: F401

    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {"value": float(pages * resource.getpagesize())}


def never(_: str, __: dict[str, Any]) -> bool:
    """A stop criterion that is never met."""
    return False


def run(
    trainable: Callable[..., Any],
    config: dict[str, Any],
    samples: int,
    tensorboard: bool = False,
    **arguments: Any,
) -> Path:
    """Search with two slots in a temporary folder, with the console on; returns the folder."""
    from overtone import tune

    root = Path(tempfile.mkdtemp(prefix="bench_"))
    analysis = tune.run(
        trainable,
        config={"x": tune.uniform(0, 1), **config},
        num_samples=samples,
        metric="loss",
        mode="min",
        max_concurrent_trials=2,
        resources_per_trial={"cpu": 1},
        storage_path=str(root),
        name="bench",
        tensorboard=tensorboard,
        **arguments,
    )
    del analysis
    return root / "bench"


def lost(folder: Path, expected: int, tensorboard: bool) -> int:
    """How many of the `expected` results are missing, in the file that has the fewest."""
    counts = {
        "result.json": sum(lines(file) for file in folder.glob("*/result.json")),
        "progress.csv": sum(lines(file) - 1 for file in folder.glob("*/progress.csv")),
    }
    journal = folder / "journal.jsonl"
    if journal.exists():
        counts["journal.jsonl"] = journal.read_bytes().count(b'"e":"reported"')
    if tensorboard:
        counts["tfevents"] = sum(steps(file) for file in folder.glob("*/events.out.tfevents.*"))
    print("results found:", counts, file=sys.stderr)
    return max(expected - count for count in counts.values())


def lines(file: Path) -> int:
    """The number of lines, the last one included only where it is whole."""
    return file.read_bytes().count(b"\n")


def steps(file: Path) -> int:
    """The number of different steps with a scalar in a TensorBoard file."""
    from tensorboardX.proto.event_pb2 import Event

    content, at, found = file.read_bytes(), 0, set()
    while at < len(content):  # a record: its length (8), a checksum (4), the event, a checksum (4)
        length = int.from_bytes(content[at : at + 8], "little")
        event = Event.FromString(content[at + 12 : at + 12 + length])
        if any(value.WhichOneof("value") == "simple_value" for value in event.summary.value):
            found.add(event.step)
        at += length + 16
    return len(found)


def main(functions: dict[str, Callable[..., dict[str, float]]]) -> None:
    """Run the function that the command line names, with the arguments that it gives as JSON."""
    found = functions[sys.argv[1]](**json.loads(sys.argv[2]))
    sys.stdout.flush()
    print("\n" + json.dumps(found))


FUNCTIONS: dict[str, Callable[..., dict[str, float]]] = {
    "trials": trials,
    "results": results,
    "report_cost": report_cost,
    "memory": memory,
    "imports": imports,
}

if __name__ == "__main__":
    main(FUNCTIONS)
