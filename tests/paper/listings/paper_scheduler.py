# ruff: noqa
# "Tune: A Research Platform for Distributed Model Selection and Training", section 4.2: the two
# calls of the scheduling API, here for a scheduler that stops what is worse than the best so far.
from overtone import tune
from overtone.tune.schedulers import TrialScheduler


class StopLosers(TrialScheduler):
    def __init__(self):
        self.best = {}

    def on_result(self, trial, result):
        best = self.best.setdefault(result.t, result.score)
        self.best[result.t] = max(best, result.score)
        return self.CONTINUE if result.score >= best else self.STOP

    def choose_trial_to_run(self, trials):
        return max(trials.runnable(), key=lambda trial: trial.config["slope"], default=None)


def train(tune):
    for step in range(1, 6):
        tune.report(score=tune.params["slope"] * step)


analysis = tune.run(
    train,
    config={"slope": tune.grid_search([1, 2, 3, 4])},
    metric="score",
    mode="max",
    scheduler=StopLosers(),
    max_concurrent_trials=1,
)
df = analysis.results_df.sort_values("config/slope")
print("iterations", list(df["training_iteration"]))
