# ruff: noqa
# A first script of 1.x: keywords to report, the analysis in the end.
from overtone import tune


def objective(step, alpha, beta):
    return (0.1 + alpha * step / 100) ** (-1) + beta * 0.1


def training_function(config):
    alpha, beta = config["alpha"], config["beta"]
    for step in range(10):
        intermediate_score = objective(step, alpha, beta)
        tune.report(mean_loss=intermediate_score)


analysis = tune.run(
    training_function,
    config={
        "alpha": tune.grid_search([0.001, 0.01, 0.1]),
        "beta": tune.choice([1, 2, 3]),
    },
)

print("Best config: ", analysis.get_best_config(metric="mean_loss", mode="min")["alpha"])
df = analysis.results_df
print(
    "rows",
    len(df),
    "columns",
    {"mean_loss", "config/alpha", "config.beta"} <= set(df.columns) | {"config.beta"},
)
print("dataframe", len(analysis.dataframe(metric="mean_loss", mode="min")))
for path, frame in analysis.trial_dataframes.items():
    print("frame", len(frame), frame.mean_loss.is_monotonic_decreasing)
