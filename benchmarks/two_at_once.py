"""How much longer two one-CPU trials of the demo take at once than one takes alone.

Each round runs the same two trials one after the other and then together, so that a machine
whose speed drifts drifts for both; the figure is the median ratio of their training times.

    python benchmarks/two_at_once.py [ROUNDS]
"""

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

from digits import load_split, train

from overtone import tune

CONFIG = {
    "hidden": [128, 64], "activation": "relu", "alpha": 1e-4, "batch_size": 64, "shift": 0.5,
    "optimizer": {"solver": "adam", "lr": 1e-3},
}  # fmt: skip


def training_s(at_once: int, storage: str) -> float:
    """Seconds that a trial of four reports trains, the mean of two."""
    analysis = tune.run(
        tune.with_parameters(train, split=load_split(), passes=6), config=CONFIG, num_samples=2,
        max_concurrent_trials=at_once, stop={"training_iteration": 4}, storage_path=storage, verbose=0,
        tensorboard=False,
    )  # fmt: skip
    return float(analysis.results_df["time_total_s"].mean())


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as storage:
        ratios = [1 / (training_s(1, storage) / training_s(2, storage)) for _ in range(rounds)]
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"two at once over one alone: median {statistics.median(ratios):.2f} of {shown}")


if __name__ == "__main__":
    main()
