"""Train one LightGBM model on several ranks that share the data.

python examples/lightgbm_ranks.py             2 ranks, 30 rounds
python examples/lightgbm_ranks.py --smoke     a small run, to see that it works
"""

from __future__ import annotations

import argparse
from typing import Any

import lightgbm
import pandas as pd
from sklearn.datasets import load_digits

from overtone import train
from overtone.train import RunConfig, ScalingConfig
from overtone.train.lightgbm import LightGBMTrainer, RayTrainReportCallback, get_network_params


def train_loop(config: dict[str, Any]) -> None:
    data = {}
    for name in ("train", "validation"):
        rows = train.get_dataset_shard(name).to_pandas()
        data[name] = lightgbm.Dataset(rows.drop(columns="digit"), label=rows["digit"])
    lightgbm.train(
        {**config["params"], "tree_learner": "data", "pre_partition": True, **get_network_params()},
        data["train"],
        config["rounds"],
        valid_sets=[data["validation"]],
        valid_names=["validation"],
        callbacks=[RayTrainReportCallback(frequency=5)],
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
    trainer = LightGBMTrainer(
        train_loop,
        train_loop_config={
            "params": {"objective": "multiclass", "num_class": 10, "metric": "multi_error", "verbosity": -1},
            "rounds": 5 if arguments.smoke else 30,
        },
        scaling_config=ScalingConfig(num_workers=arguments.ranks),
        datasets=digits(),
        # Each rank validates on all of the validation data: LightGBM does not add up the metrics of ranks.
        dataset_config=train.DataConfig(datasets_to_split=["train"]),
        run_config=RunConfig(storage_path=arguments.storage),
    )
    result = trainer.fit()
    model = RayTrainReportCallback.get_model(result.checkpoint)
    print(
        f"Validation error {result.metrics['validation-multi_error']:.4f}, {model.current_iteration()} rounds"
    )


if __name__ == "__main__":
    main()
