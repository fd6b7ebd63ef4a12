"""Training of TensorFlow over several ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overtone.train.data_parallel_trainer import DataParallelTrainer
from overtone.train.tensorflow.config import TensorflowConfig


class TensorflowTrainer(DataParallelTrainer):
    """Trains on several ranks that `tf.distribute.MultiWorkerMirroredStrategy()` joins.

    Each rank has TF_CONFIG, which the strategy reads: make it at the beginning of the loop.

    Args:
        train_loop_per_worker: Runs on each rank, with `train_loop_config` if it takes an argument.
        train_loop_config: The argument of the loop.
        tensorflow_config: Options of the cluster.
        scaling_config: Number and resources of the ranks.
        run_config: Name, folder, failures and checkpoints of the run.
        datasets: Data by name, such as DataFrames: `train.get_dataset_shard(name)` returns a rank's rows.
        dataset_config: Which datasets are split.
        metadata: What `get_metadata()` returns.
        resume_from_checkpoint: What `train.get_checkpoint()` returns at first.
    """

    def __init__(
        self,
        train_loop_per_worker: Callable[..., Any],
        *,
        train_loop_config: Mapping[str, Any] | None = None,
        tensorflow_config: TensorflowConfig | None = None,
        scaling_config: Any = None,
        run_config: Any = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        resume_from_checkpoint: Any = None,
    ) -> None:
        super().__init__(
            train_loop_per_worker,
            train_loop_config=train_loop_config,
            backend_config=tensorflow_config or TensorflowConfig(),
            scaling_config=scaling_config,
            run_config=run_config,
            datasets=datasets,
            dataset_config=dataset_config,
            metadata=metadata,
            resume_from_checkpoint=resume_from_checkpoint,
        )
