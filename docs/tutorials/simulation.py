"""
A simulation laboratory
=======================

Which scheduler finds a good configuration soonest? This script answers it for a family of learning curves, in virtual time:
hours of training on 16 machines take a second.
"""

# %%
# A curve is a function of the configuration and the step. It returns the metrics and the seconds since the trial's start.

import math

import matplotlib.pyplot as plt

from overtone import tune


def curve(config, t):
    if t > 81:
        return None
    level = (math.log10(config["lr"]) + 2) ** 2
    loss = level + 2 * math.exp(-t * config["speed"] / 10)
    return {"loss": loss}, 60.0 * t


space = {"lr": tune.loguniform(1e-5, 1e0), "speed": tune.uniform(0.5, 2.0)}

# %%
# The same search with three schedulers. Everything but the engine is as in a real search: controller, schedulers and
# journal.

runs = {}
for scheduler in ("fifo", "asha", "median"):
    runs[scheduler] = tune.run(
        curve, config=space, num_samples=200, metric="loss", mode="min", scheduler=scheduler, seed=1, verbose=0,
        engine=tune.Simulated(workers=16), name=scheduler,
    )  # fmt: skip
    account = runs[scheduler].account
    print(
        f"{scheduler:8s} {account['time_s'] / 3600:6.1f} virtual hours, best loss {runs[scheduler].best_result['loss']:.1e}"
    )

# %%
# The best loss so far over the virtual time:

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for name, analysis in runs.items():
    results = sorted(
        (result["timestamp"], result["loss"]) for trial in analysis.trials for result in trial.results()
    )
    best, steps = math.inf, []
    for at, loss in results:
        best = min(best, loss)
        steps.append(((at - results[0][0]) / 3600, best))
    axes.step(*zip(*steps, strict=True), where="post", label=name)
axes.set(xlabel="virtual hours", ylabel="best loss so far", yscale="log")
axes.legend()
plt.show()
