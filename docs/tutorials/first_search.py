"""
A first search
==============

This script searches for two hyperparameters of a small function. You can run it in a second on any machine.
"""

# %%
# A **trainable** gets a configuration and reports how good it is, after each step. Here the loss falls with the step, and
# it is lowest for ``x = 3`` and ``y = 1``.

from overtone import tune


def train(config):
    for step in range(1, 11):
        tune.report(loss=(config["x"] - 3) ** 2 + config["y"] / step)


# %%
# A **search space** names the values that each hyperparameter may have. ``tune.run`` tries 12 configurations, each in a
# process of its own, and prints what it does.

space = {"x": tune.uniform(0, 10), "y": tune.choice([1, 2, 4])}
analysis = tune.run(train, config=space, num_samples=12, metric="loss", mode="min", name="tutorial", seed=1)

# %%
# The results are in the returned object, and in the folder of the experiment.

print("best configuration:", analysis.best_config)
print("its loss:", round(analysis.best_result["loss"], 4))
for trial in analysis.trials[:3]:
    print(trial.trial_id, trial.status, trial.config)

# %%
# The same call with ``resume="AUTO"`` finds the finished experiment. It runs nothing again.

again = tune.run(
    train,
    config=space,
    num_samples=12,
    metric="loss",
    mode="min",
    name="tutorial",
    seed=1,
    resume="AUTO",
    verbose=0,
)
assert again.best_config == analysis.best_config
