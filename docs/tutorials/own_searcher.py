"""
Your own searcher
=================

A searcher needs one method: ``suggest`` returns the next configuration. This one draws from a box around the best known
point, which shrinks, and is compared with random search.
"""

# %%
# ``Cube`` maps any space to numbers from 0 to 1 and back, so that the searcher need not know the domains. All randomness
# comes from the seed and the index: then a resume repeats it.

from random import Random

from overtone import tune
from overtone.space import Cube
from overtone.tune.search import Searcher


class Shrinking(Searcher):
    """Draws around the best known point, from a box that shrinks."""

    def on_start(self, space, seed):
        self.cube, self.seed = Cube(space), seed
        self.points, self.best = {}, None

    def suggest(self, index):
        rng = Random(f"{self.seed} {index}")
        drawn = [rng.random() for _ in range(len(self.cube))]
        if self.best is not None:
            size = 0.95**index
            drawn = [center + size * (u - 0.5) for center, u in zip(self.best[1], drawn, strict=True)]
        return self.cube.from_unit([min(max(u, 0.0), 1.0) for u in drawn])

    def on_suggested(self, index, config):
        self.points[index] = self.cube.to_unit(config)

    def on_trial_end(self, trial):
        point = self.points.pop(trial.suggestion, None)
        if (
            point is not None
            and trial.last is not None
            and (self.best is None or trial.last.score > self.best[0])
        ):
            self.best = trial.last.score, point


# %%
# The problem has its minimum at ``x = 0.3`` and ``lr = 0.01``.


def train(config):
    return {"loss": (config["x"] - 0.3) ** 2 + (config["lr"] - 0.01) ** 2 * 1e3}


space = {"x": tune.uniform(-5, 5), "lr": tune.loguniform(1e-4, 1e0)}
for name, searcher in (("random", "random"), ("shrinking", Shrinking()), ("auto", "auto")):
    analysis = tune.run(
        train, config=space, search_alg=searcher, num_samples=60, metric="loss", mode="min", seed=1, verbose=0,
        engine="inline", name=name,
    )  # fmt: skip
    print(f"{name:10s} best loss {analysis.best_result['loss']:.6f}")

# %%
# ``overtone.testing.searcher_conformance`` has the tests that a searcher must pass before others use it.
