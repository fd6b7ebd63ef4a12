"""Train a TensorFlow model on several ranks under MultiWorkerMirroredStrategy.

python examples/tensorflow_ranks.py             2 ranks, 20 epochs
python examples/tensorflow_ranks.py --smoke     a small run, to see that it works
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import numpy as np

from overtone import train
from overtone.train import Checkpoint, RunConfig, ScalingConfig
from overtone.train.tensorflow import TensorflowTrainer, prepare_dataset_shard

WEIGHTS = np.array([[1.0], [-2.0], [3.0], [0.5]], dtype="float32")


def train_loop(config: dict[str, Any]) -> None:
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    shard = train.get_dataset_shard("train")
    with strategy.scope():
        weights = tf.Variable(tf.zeros([4, 1]))

    def batches(context: Any) -> Any:
        rows = tf.data.Dataset.from_tensor_slices((shard.data["x"], shard.data["y"]))
        return prepare_dataset_shard(rows.batch(16))

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights - y) ** 2)
        gradient = tf.distribute.get_replica_context().all_reduce("mean", tape.gradient(loss, weights))
        weights.assign_sub(config["lr"] * gradient)
        return loss

    data = strategy.distribute_datasets_from_function(batches)
    for _ in range(config["epochs"]):
        for x, y in data:
            loss = strategy.reduce("MEAN", strategy.run(step, args=(x, y)), axis=None)
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/weights-{train.get_context().get_world_rank()}.npy", weights.numpy())
            train.report({"loss": float(loss)}, checkpoint=Checkpoint.from_directory(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--storage", default=None)
    parser.add_argument("--smoke", action="store_true")
    arguments = parser.parse_args()
    x = np.random.default_rng(0).normal(size=(256, 4)).astype("float32")
    trainer = TensorflowTrainer(
        train_loop,
        train_loop_config={"lr": 0.05, "epochs": 3 if arguments.smoke else 20},
        scaling_config=ScalingConfig(num_workers=arguments.ranks),
        datasets={"train": {"x": x, "y": x @ WEIGHTS}},
        run_config=RunConfig(storage_path=arguments.storage),
    )
    result = trainer.fit()
    with result.checkpoint.as_directory() as folder:
        by_rank = [np.load(f"{folder}/weights-{rank}.npy") for rank in range(arguments.ranks)]
    print(f"Loss {result.metrics['loss']:.6f}, weights {by_rank[0].ravel().round(3).tolist()}")
    print(f"Equal on all ranks: {all(np.array_equal(by_rank[0], one) for one in by_rank)}")


if __name__ == "__main__":
    main()
