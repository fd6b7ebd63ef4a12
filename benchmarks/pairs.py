"""Wall-clock rates and CPU time of two source trees, in interleaved pairs: the median ratio and its interval.

    python benchmarks/pairs.py OTHER_TREE                    15 pairs of each rate
    python benchmarks/pairs.py OTHER_TREE --pairs 5 results  fewer, of one rate

A pair runs one tree and then the other, in turns which comes first, so that a machine that others use
too slows both. The interval holds the median of the ratios with at least 95 % probability. CPU time is
that of the run's whole tree of processes, start-up included: less is better, and others disturb it less.

Each tree runs once more before, uncounted: from then on both have their modules compiled, in folders of
their own. Results are deleted at the end alone, since ext4 makes files slowly in the minutes after many
were deleted.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from math import comb
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
PATIENCE_S = 600

RATES = {
    "reused": ("trials", {"size": 2000, "reuse": True}),
    "fresh": ("trials", {"size": 200, "reuse": False}),
    "results": ("results", {"size": 15_000, "tensorboard": False}),
}
"""A function of workloads.py and its arguments."""


def rate(tree: Path, name: str, folder: Path) -> tuple[float, float]:
    """Measure trials or results a second with the sources in a tree, and seconds of CPU time.

    Args:
        tree: A checkout.
        name: A key of `RATES`.
        folder: Keeps the results, and the tree's compiled modules.
    """
    function, arguments = RATES[name]
    compiled = folder / f"compiled{tree}".replace(os.sep, "_")
    environment = {one: value for one, value in os.environ.items() if one != "PYTHONDONTWRITEBYTECODE"}
    before = cpu_s()
    found = subprocess.run(
        [sys.executable, str(HERE / "workloads.py"), function, json.dumps(arguments)],
        cwd=HERE,
        env={
            **environment,
            "PYTHONPATH": str(tree / "src"),
            "PYTHONPYCACHEPREFIX": str(compiled),
            "TMPDIR": str(folder),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    if found.returncode:
        sys.exit(f"{name} of {tree} failed:\n{found.stdout[-2000:]}\n{found.stderr[-4000:]}")
    return float(json.loads(found.stdout.splitlines()[-1])["value"]), cpu_s() - before


def cpu_s() -> float:
    """Return the CPU time of all processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def interval(ratios: list[float]) -> tuple[float, float]:
    """Return the narrowest pair of order statistics that hold the median with 95 % probability."""
    ordered, n = sorted(ratios), len(ratios)
    for k in range((n - 1) // 2, 0, -1):
        if 1 - 2 * sum(comb(n, i) for i in range(k + 1)) / 2**n >= 0.95:
            return ordered[k], ordered[n - 1 - k]
    return ordered[0], ordered[-1]


def main() -> None:
    options = argparse.ArgumentParser(description="Rates of this tree over those of another, in pairs.")
    options.add_argument("against", type=Path, help="the other checkout")
    options.add_argument("names", nargs="*", help=f"which rates; all if none is named: {', '.join(RATES)}")
    options.add_argument("--tree", type=Path, default=HERE.parent, help="a checkout (%(default)s)")
    options.add_argument("--pairs", type=int, default=15, help="pairs of each rate (%(default)s)")
    given = options.parse_intermixed_args()
    unknown = set(given.names) - RATES.keys()
    if unknown:
        options.error(f"no rate {', '.join(sorted(unknown))}: choose among {', '.join(RATES)}")
    here, there = given.tree.resolve(), given.against.resolve()
    print(f"{'a second':<10}{'here':>10}{'there':>10}{'ratio':>8}  interval of the median")
    with tempfile.TemporaryDirectory(prefix="pairs_") as folder:
        for name in given.names or RATES:
            compare(name, here, there, given.pairs, Path(folder))


def compare(name: str, here: Path, there: Path, pairs: int, folder: Path) -> None:
    """Run the pairs of one rate, and print what came of them: the rate, and the CPU time."""
    mine: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    for i in range(pairs + 1):
        for tree, found in [(here, mine), (there, theirs)][:: 1 if i % 2 else -1]:
            found.append(rate(tree, name, folder))
    del mine[0], theirs[0]  # these runs compiled the modules
    for i, label in enumerate((name, "  CPU s")):
        of_us, of_them = [one[i] for one in mine], [one[i] for one in theirs]
        ratios = [one / other for one, other in zip(of_us, of_them, strict=True)]
        low, high = interval(ratios)
        figures = f"{median(of_us):>10,.2f}{median(of_them):>10,.2f}{median(ratios):>8.3f}"
        print(f"{label:<10}{figures}  {low:.3f} to {high:.3f}", flush=True)


if __name__ == "__main__":
    main()
