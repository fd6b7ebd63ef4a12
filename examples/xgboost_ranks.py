"""Search for XGBoost's parameters, each trial on several ranks that share the data.

python examples/xgboost_ranks.py             4 trials of 2 ranks each
python examples/xgboost_ranks.py --smoke     a small run, to see that it works
"""

from __future__ import annotations

import argparse
from typing import Any

import pandas as pd
import xgboost
from sklearn.datasets import load_digits

from overtone import train, tune
from overtone.train import RunConfig, ScalingConfig
from overtone.train.xgboost import RayTrainReportCallback, XGBoostTrainer


def train_loop(config: dict[str, Any]) -> None:
    matrices = {}
    for name in ("train", "validation"):
        rows = train.get_dataset_shard(name).to_pandas()
        matrices[name] = xgboost.DMatrix(rows.drop(columns="digit"), label=rows["digit"])
    xgboost.train(
        {"objective": "multi:softmax", "num_class": 10, "eval_metric": "merror", **config["params"]},
        matrices["train"],
        config["rounds"],
        evals=[(matrices["validation"], "validation")],
        callbacks=[RayTrainReportCallback(frequency=5)],
        verbose_eval=False,
    )


def digits() -> dict[str, pd.DataFrame]:
    frame = (
        load_digits(as_frame=True).frame.rename(columns={"target": "digit"}).sample(frac=1, random_state=0)
    )
    return {"train": frame[:1400], "validation": frame[1400:]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--storage", default=None)
    parser.add_argument("--smoke", action="store_true")
    arguments = parser.parse_args()
    trainer = XGBoostTrainer(
        train_loop,
        train_loop_config={"rounds": 5 if arguments.smoke else 30},
        scaling_config=ScalingConfig(num_workers=arguments.ranks),
        datasets=digits(),
    )
    tuner = tune.Tuner(
        trainer,
        param_space={
            "train_loop_config": {
                "params": {"eta": tune.loguniform(0.05, 0.5), "max_depth": tune.choice([2, 4, 6])}
            }
        },
        tune_config=tune.TuneConfig(
            metric="validation-merror", mode="min", num_samples=2 if arguments.smoke else 4
        ),
        run_config=RunConfig(storage_path=arguments.storage),
    )
    best = tuner.fit().get_best_result()
    model = RayTrainReportCallback.get_model(best.checkpoint)
    print(f"Best: {best.config['train_loop_config']['params']}")
    print(f"Validation error {best.metrics['validation-merror']:.4f}, {model.num_boosted_rounds()} rounds")


if __name__ == "__main__":
    main()
