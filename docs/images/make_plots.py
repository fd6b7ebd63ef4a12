"""Makes the pictures of plots.md, plot-*.png: a simulated search for three hyperparameters with ASHA.

.venv/bin/python docs/images/make_plots.py
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

from overtone import tune

HERE = Path(__file__).parent
NAMES = ("optimization_history", "contour", "param_importances")
SPACE = {
    "lr": tune.loguniform(1e-4, 1.0),
    "momentum": tune.uniform(0.5, 0.99),
    "units": tune.lograndint(8, 257),
}


def curve(config, t):
    """Return the loss of a training with these hyperparameters after `t` epochs."""
    if t > 27:
        return None
    step = math.log10(config["lr"] / (1 - config["momentum"]))
    level = 0.1 + 0.25 * step**2 + 1.5 / config["units"]
    return {"loss": level + math.exp(-t / (2 + abs(step)))}, 10.0 * t


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        analysis = tune.run(
            curve, config=SPACE, num_samples=60, metric="loss", mode="min", scheduler="asha",
            search_alg="auto", seed=1, engine=tune.Simulated(workers=4), storage_path=folder, name="plots",
            verbose=0,
        )  # fmt: skip
        for name in NAMES:
            options = {"params": ["lr", "momentum"]} if name == "contour" else {}
            figure = getattr(tune.plots, f"plot_{name}")(analysis, backend="matplotlib", **options)
            figure.savefig(HERE / f"plot-{name.replace('_', '-')}.png", dpi=80)


if __name__ == "__main__":
    main()
