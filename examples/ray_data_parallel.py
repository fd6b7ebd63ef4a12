"""Data-parallel SGD inside each trial: four actors in the trial's own reservation, on a Ray cluster.

    pip install "overtone[ray]"
    python examples/ray_data_parallel.py

Where no cluster is, Ray is started on this machine. All of a trial's five processes share one CPU, so that a
laptop can run it: for real shards ask for more in both places.
"""

from __future__ import annotations

from overtone import tune  # first: then Ctrl-C while the rest is imported ends without a traceback

# isort: split
import numpy as np
import ray

N_SHARDS = 4
SHARE = 0.2
WANTED = np.array([2.0, -1.0, 0.5])


@ray.remote(num_cpus=SHARE)
class Shard:
    """A part of the data, and the gradient of the squared error on it."""

    def __init__(self, rank: int) -> None:
        rng = np.random.default_rng(rank)
        self.x = rng.normal(size=(500, len(WANTED)))
        self.y = self.x @ WANTED + rng.normal(scale=0.1, size=500)

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        return 2 * self.x.T @ (self.x @ weights - self.y) / len(self.x)


def train(config):
    # Ray places them in the reservation of the trial, where the last four bundles are theirs
    shards = [Shard.remote(rank) for rank in range(N_SHARDS)]
    weights = np.zeros(len(WANTED))
    for _ in range(20):
        gradients = ray.get([shard.gradient.remote(weights) for shard in shards])
        weights -= config["lr"] * np.mean(gradients, axis=0)
        tune.report(distance=float(np.linalg.norm(weights - WANTED)))


if __name__ == "__main__":
    gang = tune.PlacementGroupFactory([{"CPU": SHARE}] * (1 + N_SHARDS))
    analysis = tune.run(
        tune.with_resources(train, gang, ray=True),
        config={"lr": tune.grid_search([0.01, 0.3])},
        metric="distance",
        mode="min",
        engine="ray",
    )
    if all(trial.is_finished() for trial in analysis.trials):  # and none was interrupted
        best = analysis.best_result
        print(f"best: lr={best['config']['lr']}, {best['distance']:.3f} from what was wanted")
