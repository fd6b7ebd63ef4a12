"""
Search spaces
=============

A space is a dict of domains. This script draws configurations from several kinds of domains, without training.
"""

# %%
# Domains
# -------
# Each call of ``tune`` below makes a domain: numbers on a linear or a logarithmic scale, whole numbers, or a choice.

from overtone import tune

space = {
    "lr": tune.loguniform(1e-4, 1e-1),
    "dropout": tune.quniform(0.0, 0.5, 0.1),
    "layers": tune.randint(1, 5),
    "activation": tune.choice(["relu", "tanh"]),
}


def show(space, count=4, **options):
    """Draw some configurations: the trainable reports once, in the process of this script."""
    analysis = tune.run(
        lambda config: {"loss": 0.0},
        config=space,
        num_samples=count,
        metric="loss",
        mode="min",
        seed=1,
        engine="inline",
        verbose=0,
        **options,
    )
    for trial in analysis.trials:
        print(trial.config)


show(space)

# %%
# Values that depend on others
# ----------------------------
# ``tune.sample_from`` computes a value from the values that are already drawn.

show({"layers": tune.randint(1, 5), "width": tune.sample_from(lambda config: 2 ** (8 - config["layers"]))})

# %%
# Hyperparameters of a choice
# ---------------------------
# An option of ``tune.choice`` may have domains of its own. They are drawn only if the option is chosen.

show(
    {
        "optimizer": tune.choice(
            [
                {"name": "sgd", "momentum": tune.uniform(0.5, 0.99)},
                {"name": "adam", "beta2": tune.uniform(0.9, 0.999)},
            ]
        )
    }
)

# %%
# Grids
# -----
# ``tune.grid_search`` tries each value. The other domains are drawn for each point of the grid, ``num_samples`` times.

show({"depth": tune.grid_search([2, 4]), "lr": tune.loguniform(1e-4, 1e-1)}, count=2)

# %%
# Constraints
# -----------
# A configuration that violates the constraint is drawn again.

show(
    tune.space(
        {"layers": tune.randint(1, 9), "width": tune.choice([64, 256, 1024])},
        constraint=lambda config: config["layers"] * config["width"] <= 1024,
    )
)

# %%
# Errors name the domain and the rule.

try:
    tune.loguniform(0, 1)
except tune.TuneError as error:
    print(error)
