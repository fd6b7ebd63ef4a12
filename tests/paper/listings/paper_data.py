# ruff: noqa
# "Tune: A Research Platform for Distributed Model Selection and Training", section 4.3.2: weights
# are broadcast to all trials with ray.put, and each fetches them when it starts.
import numpy as np

import overtone as ray
from overtone import tune

ray.init(address="auto")
obj_id = ray.put(np.arange(1_000_000, dtype=np.float64))


def train(config):
    weights = ray.get(obj_id)
    tune.report(total=float(weights.sum() * config["scale"]))


analysis = tune.run(train, config={"scale": tune.grid_search([1, 2])}, metric="total", mode="max")
print("best", analysis.best_result["total"])
ray.shutdown()
