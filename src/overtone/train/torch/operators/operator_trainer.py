"""The trainer of an operator: epochs on one or several workers, called from a script or by a trial."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import torch

from overtone.errors import ArgumentError, GangError, UsageError
from overtone.keywords import KnownKeywords, check_keywords, check_kind
from overtone.standard_streams import say
from overtone.train.torch.operators.checkpoint_file import check_state, load_state, save_state
from overtone.train.torch.operators.meters import BATCH_SIZE, reduced
from overtone.train.torch.operators.operator_runner import OperatorSettings
from overtone.train.torch.operators.registration import STEP_FREQUENCIES
from overtone.train.torch.operators.training_operator import TrainingOperator
from overtone.train.torch.operators.worker_resources import (
    check_gpus,
    check_number,
    is_gpu_used,
    resources_of,
)
from overtone.train.torch.operators.workers import LocalWorker, Workers


class OperatorTrainer(KnownKeywords):
    """Trains an operator on one or several workers, an epoch per call of `train`.

    Scripts call it `TorchTrainer`, from `overtone.util.sgd` or `overtone.train.torch`:

        trainer = TorchTrainer(training_operator_cls=Digits, num_workers=2, config={"lr": 0.1})
        for _ in range(10):
            print(trainer.train(), trainer.validate())
        trainer.shutdown()

    The process that calls it is the head; each worker is a process of its own. `as_trainable` makes a class
    for `tune.run`, whose trials have a trainer each.

    Args:
        training_operator_cls: The class that trains; see `TrainingOperator`.
        initialization_hook: Called without arguments in each worker before the operator is made.
        config: The operator's configuration. The value of `BATCH_SIZE` is split over the workers.
        num_workers: Number of workers, 1 or more.
        num_cpus_per_worker: CPUs of each worker.
        use_gpu: Whether each worker has a GPU; "auto" if there are enough.
        backend: "gloo", "nccl", or "auto": nccl on GPUs, else gloo.
        wrap_ddp: Whether models are wrapped in DistributedDataParallel if there are several workers.
        timeout_s: Longest time of a collective operation, and of the silence of a worker, in seconds.
        use_fp16: Whether models compute in mixed precision: float16 on GPUs, bfloat16 on CPUs.
        use_tqdm: Whether the first worker shows a progress bar.
        add_dist_sampler: Whether each worker gets its part of the registered data.
        scheduler_step_freq: When registered schedulers step: "epoch", "batch", or "manual" for
            `update_scheduler`.
        use_local: Whether one worker runs in this process, so that `get_local_operator` works. Several
            workers are processes of their own in any case.

    Raises:
        ArgumentError, UsageError: An argument is not allowed.
        ResourceError: There are too few CPUs or GPUs; no worker was started.
        GangError: A worker could not be started, or its `setup` raised.
    """

    def __init__(
        self,
        *,
        training_operator_cls: type[TrainingOperator],
        initialization_hook: Callable[[], Any] | None = None,
        config: Mapping[str, Any] | None = None,
        num_workers: int = 1,
        num_cpus_per_worker: float = 1,
        use_gpu: bool | str = "auto",
        backend: str = "auto",
        wrap_ddp: bool = True,
        timeout_s: float = 1800,
        use_fp16: bool = False,
        use_tqdm: bool = False,
        add_dist_sampler: bool = True,
        scheduler_step_freq: str | None = None,
        use_local: bool = False,
    ) -> None:
        self._workers: Workers | None = None
        self._dataset: Any = None
        check_arguments(training_operator_cls, num_workers, scheduler_step_freq, use_tqdm, backend)
        check_kind("config", config, Mapping, '{"lr": 0.1}')
        has_gpu = is_gpu_used(use_gpu, num_workers)
        check_gpus(use_gpu, num_workers)
        self.config = dict(config or {})
        settings = OperatorSettings(
            training_operator_cls,
            self._split_batch(num_workers),
            initialization_hook,
            has_gpu,
            wrap_ddp,
            use_fp16,
            use_tqdm,
            add_dist_sampler,
            scheduler_step_freq,
        )
        is_local = use_local and num_workers == 1
        if is_local:
            self._workers = LocalWorker(settings)
        else:
            from overtone.train.torch.config import TorchConfig
            from overtone.train.torch.operators.gang_workers import GangWorkers

            torch_config = TorchConfig(None if backend == "auto" else backend, timeout_s=timeout_s)
            resources = resources_of(num_workers, num_cpus_per_worker, has_gpu, is_local)
            self._workers = GangWorkers(settings, resources, torch_config)

    # --- training ----------------------------------------------------------------------------

    def train(
        self,
        num_steps: int | None = None,
        profile: bool = False,
        reduce_results: bool = True,
        max_retries: int = 3,
        info: Mapping[str, Any] | None = None,
        dataset: Any = None,
    ) -> Any:
        """Train for an epoch, or for `num_steps` batches per worker.

        Without `num_steps`, the rest of an epoch that `num_steps` has begun is an epoch.

        Args:
            num_steps: Number of batches per worker; the next call continues where this one ends.
            profile: Whether the results have durations in seconds, under "profile".
            reduce_results: Whether to return one dict for all workers.
            max_retries: How often to restart all workers, from the state before the call, if one of them is
                killed or hangs. The state is copied to this process first, which takes time for large
                models; 0 spares that. Inside a trial the trial's own retries count instead, with its
                checkpoints.
            info: Passed to `train_epoch` and `train_batch`.
            dataset: A `Dataset` or `DataLoader` that replaces the registered training data in this call.
                While the same object is given, `num_steps` continue in it. A restored training begins its
                epoch again.

        Returns:
            Metrics with "num_samples", "epoch" and "batch_count"; a list by worker with
            `reduce_results=False`.

        Raises:
            GangError: A worker raised; or died or hung more often than `max_retries`.
        """
        check_steps(num_steps)
        arguments = (num_steps, profile, dict(info or {}))
        saved = self.state_dict() if max_retries > 0 and self._running.can_restart else None
        retries = 0
        while True:
            try:
                if dataset is not self._dataset:
                    self._running.call("use_dataset", dataset)
                    self._dataset = dataset
                results = self._running.call("train_epoch", *arguments)
                return reduced(results) if reduce_results else results
            except GangError as error:
                if error.traceback or saved is None or retries >= max_retries:
                    raise
                retries += 1
                say(f"{error}; all workers start again ({retries} of {max_retries} retries)")
                self._running.restart()
                self._dataset = None
                self.load_state_dict(saved)

    def validate(
        self,
        num_steps: int | None = None,
        profile: bool = False,
        reduce_results: bool = True,
        info: Mapping[str, Any] | None = None,
    ) -> Any:
        """Evaluate the models on the validation data; each sample counts once.

        Args:
            num_steps: Number of batches per worker, continuing where an earlier call with `num_steps` has
                ended; all by default.
            profile: Whether the results have durations in seconds, under "profile".
            reduce_results: Whether to return one dict for all workers.
            info: Passed to `validate` and `validate_batch` of the operator.

        Returns:
            Metrics with "num_samples" and "batch_count"; a list by worker with `reduce_results=False`.

        Raises:
            GangError: A worker raised, died or hung.
        """
        check_steps(num_steps)
        results = self._running.call("validate", num_steps, profile, dict(info or {}))
        return reduced(results) if reduce_results else results

    def has_validation(self) -> bool:
        """Return whether the operator registered data for validation."""
        return bool(self._running.call_first("has_validation"))

    def update_scheduler(self, metric: float) -> None:
        """Step the schedulers in all workers, for `scheduler_step_freq="manual"`.

        Args:
            metric: What `ReduceLROnPlateau` looks at.
        """
        self._running.call("update_scheduler", metric)

    # --- models and functions ----------------------------------------------------------------

    def apply_all_workers(self, fn: Callable[[], Any]) -> list[Any]:
        """Call `fn()` in each worker; return the results by rank."""
        return self._running.apply(fn)

    def apply_all_operators(self, fn: Callable[[TrainingOperator], Any]) -> list[Any]:
        """Call `fn(operator)` in each worker; return the results by rank."""
        return self._running.call("apply_operator", fn)

    def get_model(self) -> Any:
        """Return a copy of the model on the CPU; several in the shape in which they were registered."""
        return self._running.call_first("models")

    def get_local_operator(self) -> TrainingOperator:
        """Return the operator in this process.

        Raises:
            UsageError: Workers are processes of their own.
        """
        if not isinstance(self._running, LocalWorker):
            raise UsageError(
                "get_local_operator(): the operators are in workers' processes: set use_local=True and "
                "num_workers=1, "
                "or call apply_all_operators(lambda operator: ...)"
            )
        return self._running.runner.operator

    # --- state -------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return all that the training continues from, as plain data and tensors on the CPU."""
        states = self._running.call("state_dict")
        return {"shared": states[0]["shared"], "workers": [state["own"] for state in states]}

    def load_state_dict(self, state: Mapping[str, Any], blocking: bool = False) -> None:
        """Continue from a state.

        Hyperparameters of optimizers that the config has changed since the state was saved keep the config's
        values.

        Args:
            state: From `state_dict`, also of a trainer with another number of workers. Random generators are
                then not restored.
            blocking: Accepted: the state is set when this returns, in any case.

        Raises:
            UsageError: `state` is not from `state_dict`.
            GangError: The operator has other models, optimizers or schedulers.
        """
        check_state(state)
        self._running.call("load_state_dict", state["shared"], state["workers"])

    def save(self, path: str | os.PathLike[str]) -> str:
        """Save the state to a file, which `torch.load(path, weights_only=True)` can read; return the path.

        A file at `path` is replaced when the new one is complete.

        Raises:
            TrainableError: The operator's own `state_dict()` has other objects than plain data and tensors.
            OSError: The file cannot be written.
        """
        return save_state(self.state_dict(), path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Continue from a file that `save` has written.

        Raises:
            UsageError: `save` has not written it.
            GangError: The operator has other models, optimizers or schedulers.
        """
        self.load_state_dict(load_state(path))

    def shutdown(self, force: bool = False) -> None:
        """End the workers.

        Args:
            force: Whether to kill them at once.
        """
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.shutdown(force)

    @classmethod
    def as_trainable(
        cls, *args: Any, override_tune_step: Callable[..., Any] | None = None, **kwargs: Any
    ) -> type[Any]:
        """Return a class for `tune.run` whose trials train and validate an epoch per iteration.

        A trial's config is the operator's config, on top of `config`. Its "num_workers",
        "num_cpus_per_worker" and "use_gpu" count before those given here. A trial takes 1 CPU for the head,
        and a bundle for each worker; `resources_per_trial` is refused. Checkpoints need no code.

        Args:
            args: Refused: all arguments have names.
            override_tune_step: `(trainer, info) -> metrics`, called for each iteration in place of `train`
                and `validate`; info is {"iteration": number of iterations so far}.
            kwargs: The arguments of `TorchTrainer`. `num_workers=(min, max)` lets a trial start with as many
                workers as the nodes can hold; batches of `BATCH_SIZE` keep their size.

        Raises:
            UsageError: An argument is unknown, or `training_operator_cls` is missing.
        """
        from overtone.train.torch.operators.operator_trainable import trainable_of

        if args:
            raise UsageError(f"as_trainable({args[0]!r:.80}): write as_trainable(training_operator_cls=...)")
        check_keywords(cls, kwargs)
        check_operator(kwargs.get("training_operator_cls"))
        return trainable_of(cls, kwargs, override_tune_step)

    @property
    def _running(self) -> Workers:
        if self._workers is None:
            raise GangError("this trainer was shut down: make a new TorchTrainer, and load its checkpoint")
        return self._workers

    def _split_batch(self, num_workers: int) -> dict[str, Any]:
        """Return the config of a worker, with its part of the batch size."""
        total = self.config.get(BATCH_SIZE)
        if total is None:
            return dict(self.config)
        if not isinstance(total, int) or total < num_workers:
            raise ArgumentError(
                f"config[BATCH_SIZE]={total!r}: must be a whole number, at least num_workers={num_workers}"
            )
        part = total // num_workers
        if part * num_workers != total:
            say(
                f"batches have {part * num_workers} samples instead of {total}: {part} for each of "
                f"{num_workers} workers"
            )
            self.config[BATCH_SIZE] = part * num_workers
        return {**self.config, BATCH_SIZE: part}


def check_arguments(
    operator_class: Any, num_workers: Any, scheduler_step_freq: Any, use_tqdm: bool, backend: str
) -> None:
    """Check the arguments of a trainer.

    Raises:
        ArgumentError, UsageError: One is not allowed.
        MissingPackageError: tqdm is missing.
    """
    check_operator(operator_class)
    check_number(num_workers)
    if scheduler_step_freq is not None and scheduler_step_freq not in STEP_FREQUENCIES:
        raise ArgumentError(
            f"scheduler_step_freq={scheduler_step_freq!r}: must be "
            f"{', '.join(map(repr, STEP_FREQUENCIES))} or None"
        )
    if backend != "auto" and not torch.distributed.is_backend_available(backend):
        raise ArgumentError(f'backend={backend!r}: this PyTorch does not have it; use "auto" or "gloo"')
    if use_tqdm:
        from importlib.util import find_spec

        from overtone.errors import MissingPackageError

        if find_spec("tqdm") is None:
            raise MissingPackageError("tqdm", "", "use_tqdm=True")


def check_operator(given: Any) -> None:
    """Check the class of operators.

    Raises:
        UsageError: It is not a subclass of TrainingOperator.
    """
    if not isinstance(given, type) or not issubclass(given, TrainingOperator):
        raise UsageError(
            f"training_operator_cls={given!r:.100}: must be a subclass of TrainingOperator, the class itself"
        )


def check_steps(num_steps: Any) -> None:
    """Check the number of batches.

    Raises:
        ArgumentError: It is not a whole number above 0.
    """
    if num_steps is not None and (not isinstance(num_steps, int) or num_steps < 1):
        raise ArgumentError(
            f"num_steps={num_steps!r}: must be a whole number, 1 or more, or None for an epoch"
        )
