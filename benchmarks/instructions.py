"""The driver's instructions for a reused, fresh or simulated trial and a logged result, counted by valgrind.

    python benchmarks/instructions.py                             of the sources here
    python benchmarks/instructions.py --against OTHER_TREE        and of another checkout, with the ratio
    python benchmarks/instructions.py reused result               these alone

Each count is the slope between runs of two sizes, so that the start-up cancels. Valgrind slows the driver
down about 40 times and counts the driver alone: the trials run beside it at full speed. The samples of the
machine, one in 5 s of wall time, are left out: the longer run would have more of them (3 % of its count).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PATIENCE_S = 1800

SIZES = {
    "reused": (400, 1_000), "fresh": (100, 250), "result": (4_000, 10_000), "events": (4_000, 10_000),
    "simulated": (1_000, 2_500),
}  # fmt: skip
"""The two sizes of each: trials, or results of a trial. Short runs write their files themselves.

"events" is a result that is written to an event file, too. A simulated trial is one of `simulated.py short`:
500 workers, and about 4 results.
"""


def once(config: dict[str, Any]) -> None:
    """Report one result."""
    from overtone import tune

    tune.report({"loss": config["x"]})


def chatty(config: dict[str, Any]) -> None:
    """Report `config["results"]` results, as fast as the driver takes them."""
    from overtone import tune

    for step in range(config["results"]):
        tune.report({"loss": config["x"] / (step + 1), "accuracy": 0.5, "step": step})


def work(name: str, size: int, folder: str) -> None:
    """Run the search that is counted, with its files in `folder`."""
    from overtone import tune

    with suppress(ImportError):  # Earlier trees have no samples.
        from overtone.worker import machines

        machines.EVERY_S = 86_400.0  # Before the driver is imported.
    if name == "simulated":
        import simulated

        simulated.run(500, size, simulated.EARLY, folder)
        return
    is_chatty = name in ("result", "events")
    tune.run(
        chatty if is_chatty else once,
        config={"x": tune.uniform(0, 1), **({"results": size} if is_chatty else {})},
        num_samples=1 if is_chatty else size,
        metric="loss",
        mode="min",
        max_concurrent_trials=2,
        resources_per_trial={"cpu": 1},
        storage_path=folder,
        name="bench",
        tensorboard=name == "events",
        reuse_actors=name == "reused",
    )


def instructions(tree: Path, name: str, size: int) -> int:
    """Count the instructions of one driver, from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        found = subprocess.run(
            [
                "valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={folder}/out.%p",
                "--trace-children=no", "--child-silent-after-fork=yes", f"--log-file={log}",
                sys.executable, "-c", f"import instructions; instructions.work({name!r}, {size}, {folder!r})",
            ],
            cwd=HERE,
            env={**os.environ, "PYTHONPATH": f"{tree / 'src'}:{HERE}", "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )  # fmt: skip
        counted = re.search(r"I +refs: +([\d,]+)", log.read_text("utf-8", "replace") if log.exists() else "")
    if found.returncode or counted is None:
        sys.exit(f"{name} of {tree} failed:\n{found.stdout[-2000:]}\n{found.stderr[-4000:]}")
    return int(counted[1].replace(",", ""))


def slope(tree: Path, name: str) -> float:
    """Count the instructions for one more trial or result."""
    few, many = SIZES[name]
    return (instructions(tree, name, many) - instructions(tree, name, few)) / (many - few)


def main() -> None:
    options = argparse.ArgumentParser(description="The driver's instructions for a trial and for a result.")
    options.add_argument("names", nargs="*", help=f"which ones; all if none is named: {', '.join(SIZES)}")
    options.add_argument("--tree", type=Path, default=HERE.parent, help="a checkout (%(default)s)")
    options.add_argument("--against", type=Path, help="a checkout to compare with")
    given = options.parse_intermixed_args()
    unknown = set(given.names) - SIZES.keys()
    if unknown:
        options.error(f"no count {', '.join(sorted(unknown))}: choose among {', '.join(SIZES)}")
    if shutil.which("valgrind") is None:
        options.error("valgrind is not installed: apt-get install valgrind")

    heading = f"{'instructions of the driver for one':<36}{'here':>12}"
    print(heading + f"{'there':>12}{'ratio':>8}" * bool(given.against))
    for name in given.names or SIZES:
        mine = slope(given.tree.resolve(), name)
        line = f"{name:<36}{mine:>12,.0f}"
        if given.against:
            theirs = slope(given.against.resolve(), name)
            line += f"{theirs:>12,.0f}{mine / theirs:>8.3f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
