"""
Your own scheduler
==================

A scheduler needs one method. This one stops a trial that has not improved for some results, and gives a reason for each
decision.
"""

# %%
# ``result.score`` is the metric with higher values better, whatever ``mode`` is. ``Stop`` takes the reason.

from overtone import tune
from overtone.tune.schedulers import CONTINUE, Stop, TrialScheduler


class Patience(TrialScheduler):
    """Stops a trial whose best result is `patience` results old."""

    def __init__(self, patience):
        self.patience = patience
        self.best = {}

    def on_result(self, trial, result):
        score, t = self.best.get(trial.id, (float("-inf"), 0))
        if result.score > score:
            self.best[trial.id] = result.score, result.t
        elif result.t - t >= self.patience:
            return Stop(f"no better result since step {t}")
        return CONTINUE


# %%
# Try it in a simulation first: a trial is a function of the step, and there is no waiting.


def curve(config, t):
    return {"loss": (t - config["turn"]) ** 2} if t <= 30 else None


simulated = tune.run(
    curve, config={"turn": tune.randint(2, 25)}, num_samples=5, metric="loss", mode="min", seed=1, verbose=0,
    scheduler=Patience(3), engine="simulated", name="patience",
)  # fmt: skip
for trial in simulated.trials:
    print(f"turn {trial.config['turn']:2d}: stopped after {trial.last_result['training_iteration']} steps")

# %%
# The journal has the reasons, and ``overtone why`` shows them.

from overtone.cli import main

main(["why", simulated.experiment_path, "0"])

# %%
# The same object runs on processes.


def train(config):
    for t in range(1, 31):
        tune.report(curve(config, t))


local = tune.run(
    train, config={"turn": tune.randint(2, 25)}, num_samples=5, metric="loss", mode="min", seed=1, verbose=0,
    scheduler=Patience(3),
)  # fmt: skip
print([trial.last_result["training_iteration"] for trial in local.trials])
