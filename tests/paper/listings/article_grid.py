# ruff: noqa
# The article on Ray and Ray Tune of May 2021: num_samples repeats the whole grid.
from overtone import tune

a, b, c = "a", "b", "c"


def trainable(config):
    tune.report(score=config["x"] * len(config["y"]))


# 会运行 9 个实验
nine = tune.run(
    trainable, num_samples=1, config={"x": tune.grid_search([1, 2, 3]), "y": tune.grid_search([a, b, c])}
)
# 会运行 18 个实验
eighteen = tune.run(
    trainable, num_samples=2, config={"x": tune.grid_search([1, 2, 3]), "y": tune.grid_search([a, b, c])}
)
print("trials", len(nine.trials), len(eighteen.trials))
print("order", [(t.config["x"], t.config["y"]) for t in nine.trials])
