"""Trainables of early versions of the API whose function runs in several ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any, cast

from overtone.errors import ArgumentError
from overtone.train.in_trial import report_to_trial
from overtone.train.training import Training
from overtone.tune.session import get_context
from overtone.worker.session.current import current
from overtone.worker.trainables.demand import ScalingConfig
from overtone.worker.trainables.function_trial import run_function
from overtone.worker.trainables.with_parameters import Bound, as_bound, trainable_name, with_parameters

__all__ = ["DistributedTrainableCreator", "distributed_checkpoint_dir"]

TIMEOUT_S = 1800


def DistributedTrainableCreator(
    func: Callable[..., Any],
    num_workers: int = 1,
    num_cpus_per_worker: float = 1,
    num_gpus_per_worker: float = 0,
    num_workers_per_host: int | None = None,
    backend: str = "gloo",
    timeout_s: float = TIMEOUT_S,
    use_gpu: bool | None = None,
) -> Bound:
    """Return a trainable that runs a function in several ranks of a process group.

    Args:
        func: The function: `func(config, checkpoint_dir=None)`, or any other form of a trainable function. It
            reports in every rank equally often; the metrics of rank 0 count.
        num_workers: The number of ranks.
        num_cpus_per_worker: CPUs of each rank.
        num_gpus_per_worker: GPUs of each rank.
        num_workers_per_host: The number of ranks on each node. All of them on one node is possible
            (`num_workers`), or one on each (1); None for any.
        backend: "gloo" or "nccl".
        timeout_s: Longest time of a collective operation, in seconds.
        use_gpu: The earlier form of `num_gpus_per_worker=1`.

    Raises:
        ArgumentError: `num_workers_per_host` is another number.
    """
    strategies = {None: "PACK", num_workers: "STRICT_PACK", 1: "STRICT_SPREAD" if num_workers > 1 else "PACK"}
    if num_workers_per_host not in strategies:
        raise ArgumentError(
            f"num_workers_per_host={num_workers_per_host!r}: must be None, 1 or num_workers={num_workers}"
        )
    from overtone.train.torch.config import TorchConfig

    worker = {"CPU": num_cpus_per_worker, "GPU": num_gpus_per_worker or (1 if use_gpu else 0)}
    bound = as_bound(func)
    training = Training(
        _AsFunctionTrial(bound),
        scaling=ScalingConfig(
            num_workers=num_workers,
            resources_per_worker=worker,
            placement_strategy=strategies[num_workers_per_host],
        ),
        backend=TorchConfig(backend=backend, timeout_s=timeout_s),
    )
    made = with_parameters(_run, training=training)
    return replace(made, resources=training.resources({}), name=trainable_name(bound))


@contextmanager
def distributed_checkpoint_dir(step: int | None = None, disable: bool = False) -> Iterator[str]:
    """Yield a folder to save into; the next report carries what rank 0 saves.

    Args:
        step: Accepted for compatibility.
        disable: Whether what is saved is thrown away; None for all ranks but 0.
    """
    is_kept = get_context().get_world_rank() == 0 and not disable
    with current().checkpoint_dir(step) if is_kept else TemporaryDirectory() as folder:
        yield folder


def _run(config: Mapping[str, Any], training: Training) -> None:
    """Run the function in all ranks as the trial itself."""
    report_to_trial(replace(training, loop_config=dict(config)))


@dataclass(frozen=True)
class _AsFunctionTrial:
    """A loop that calls a trainable function by its signature, as a trial would."""

    bound: Bound

    def __call__(self, config: Mapping[str, Any]) -> None:
        session: Any = current()  # its params are the trial's config
        run_function(cast("Callable[..., Any]", self.bound.trainable), session, self.bound.resolved())
