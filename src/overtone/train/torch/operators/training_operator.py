"""The operator: what a user writes of a training, and the loops that run if the user writes none.

An operator runs in each worker. It does not know how workers are made, nor whether there are others: it gets
its rank, its device and how to wrap models, and `OperatorRunner` calls its loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from overtone.errors import TrainableError, UsageError
from overtone.train.torch.operators.batch_parts import checked, only, parts_of
from overtone.train.torch.operators.creator_operator import with_creators
from overtone.train.torch.operators.lightning_operator import with_module
from overtone.train.torch.operators.loaders import Batches, shared_out
from overtone.train.torch.operators.meters import NUM_SAMPLES, AverageMeterCollection, TimerCollection
from overtone.train.torch.operators.precision import Precision
from overtone.train.torch.operators.registration import (
    Registered,
    check_step_frequency,
    distributed,
    has_own,
    move,
)


class TrainingOperator:
    """A training of one or several models: subclass it, and define `setup`.

        class Digits(TrainingOperator):
            def setup(self, config):
                model = Net()
                optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
                self.model, self.optimizer, self.criterion = self.register(
                    models=model, optimizers=optimizer, criterion=torch.nn.NLLLoss())
                self.register_data(train_loader=..., validation_loader=...)

    `TorchTrainer(training_operator_cls=Digits, num_workers=2)` makes an object in each worker. Override
    `train_batch` or `validate_batch` for another step, `train_epoch` or `validate` for another loop.

    Attributes:
        config: The configuration, with the hyperparameters of the trial.
        device: The worker's device, such as `torch.device("cuda:0")`.
        device_ids: The index of the worker's GPU in a list; None on a CPU.
        world_rank: The worker's number, from 0.
        local_rank: Its number on its machine.
        world_size: The number of workers.
        use_gpu: Whether the device is a GPU.
        use_fp16: Whether models compute in mixed precision.
        use_tqdm: Whether the first worker shows a progress bar.
        scheduler_step_freq: When schedulers step: "epoch", "batch", "manual" or None.
        timers: The durations of the parts of an epoch, with `profile=True`.
        global_step: The number of batches trained.
        models, optimizers, schedulers: Lists of what was registered.
        model, optimizer, scheduler: The first of each; None if there is none.
        criterion: As it was registered.
        train_loader, validation_loader: This worker's part of the registered data; None if there is none.

    Raises:
        TrainableError: `setup` registered no model.
    """

    model: Any = None
    optimizer: Any = None
    scheduler: Any = None
    criterion: Any = None
    train_loader: Any = None
    validation_loader: Any = None

    def __init__(
        self,
        config: dict[str, Any],
        world_rank: int = 0,
        local_rank: int = 0,
        world_size: int = 1,
        device: torch.device | None = None,
        use_gpu: bool = False,
        wrap_ddp: bool = False,
        add_dist_sampler: bool = False,
        scheduler_step_freq: str | None = None,
        use_fp16: bool = False,
        use_tqdm: bool = False,
    ) -> None:
        self.config = config
        self.world_rank, self.local_rank, self.world_size = world_rank, local_rank, world_size
        self.device = device or torch.device("cpu")
        self.use_gpu, self.use_tqdm = use_gpu, use_tqdm
        self.scheduler_step_freq = scheduler_step_freq
        self.timers = TimerCollection()
        self.global_step = 0
        self.models: Any = []
        self.optimizers: Any = []
        self.schedulers: Any = []
        self._wrap_ddp, self._add_dist_sampler = wrap_ddp, add_dist_sampler
        self._precision = Precision(use_fp16, self.device)
        self._registered = Registered()
        self._train_batches: Batches | None = None
        self._validation_batches: Batches | None = None
        self.setup(config)
        if not self._registered.models:
            raise TrainableError(
                f"{type(self).__name__}.setup() registered no model: call self.register(models=..., "
                "optimizers=...)"
            )

    @property
    def use_fp16(self) -> bool:
        """Whether models compute in mixed precision."""
        return self._precision.is_mixed

    @property
    def device_ids(self) -> list[int] | None:
        """The index of the worker's GPU in a list; None on a CPU."""
        return None if self.device.index is None else [self.device.index]

    # --- methods that users define, or call in `setup` -------------------------------------

    def setup(self, config: dict[str, Any]) -> None:
        """Make models, optimizers and loaders, and call `register` and `register_data`.

        Args:
            config: The configuration, the same as `self.config`.
        """
        raise NotImplementedError(
            f"{type(self).__name__} needs setup(self, config): it calls self.register(models=..., "
            "optimizers=...) "
            "and self.register_data(train_loader=...)"
        )

    def register(
        self,
        *,
        models: Any,
        optimizers: Any,
        criterion: Any = None,
        schedulers: Any = None,
        ddp_args: Mapping[str, Any] | None = None,
        apex_args: Mapping[str, Any] | None = None,
    ) -> tuple[Any, ...]:
        """Move models to the device, prepare mixed precision, and connect the models of all workers.

        Each of `models`, `optimizers`, `criterion` and `schedulers` is one object, a list or a tuple.

        Args:
            models: `torch.nn.Module`s. Several need a `train_epoch` or `train_batch` of your own.
            optimizers: `torch.optim.Optimizer`s of the models' parameters.
            criterion: Called as `criterion(output, target)` by the default loops.
            schedulers: Schedulers of the learning rate; they need `scheduler_step_freq` of `TorchTrainer`.
            ddp_args: Further arguments of `DistributedDataParallel`.
            apex_args: {"opt_level": level}: O0 is float32; O1, O2 and O3 are torch.amp with `use_fp16=True`.

        Returns:
            Models and optimizers, then the criterion and the schedulers if they were given: each in the shape
            in which it was given.

        Raises:
            UsageError: An argument is of another type.
            ArgumentError: Schedulers lack `scheduler_step_freq`, or the level is unknown.
            TrainableError: There are several models, and no training of your own.
        """
        found = Registered.of(models, optimizers, criterion, schedulers)
        check_step_frequency(found.schedulers, self.scheduler_step_freq)
        if len(found.models) > 1 and not has_own(self, TrainingOperator, "train_epoch", "train_batch"):
            raise TrainableError(
                f"{type(self).__name__} registers {len(found.models)} models, and the default loop trains "
                "one: define train_epoch(self, iterator, info) or train_batch(self, batch, batch_info)"
            )
        self._precision.choose(apex_args, self.world_rank == 0)
        found.models, found.criterion = move(found.models, self.device), move(found.criterion, self.device)
        found.models = [self._precision.wrap(model) for model in found.models]
        if self._wrap_ddp:
            found.models = [distributed(model, self.device_ids, ddp_args) for model in found.models]
        self._registered = found
        self.models, self.optimizers, self.schedulers = found.models, found.optimizers, found.schedulers
        self.model, self.optimizer = found.models[0], found.optimizers[0]
        self.scheduler = found.schedulers[0] if found.schedulers else None
        if found.criterion:
            self.criterion = found.in_shape("criterion")
        return tuple(found.in_shape(name) for name in found.given)

    def register_data(self, *, train_loader: Any = None, validation_loader: Any = None) -> None:
        """Register the loaders; with several workers, each gets its part of a `DataLoader`.

        Args:
            train_loader: Batches for `train_epoch`, a `DataLoader` or another iterable.
            validation_loader: Batches for `validate`; each sample counts once.

        Raises:
            TrainableError: A loader's own sampler cannot be split over workers: `add_dist_sampler=False`
                leaves loaders as they are.
        """
        if train_loader is not None:
            self.train_loader = self._part_of(train_loader, is_training=True)
            self._train_batches = Batches(self.train_loader)
        if validation_loader is not None:
            self.validation_loader = self._part_of(validation_loader, is_training=False)
            self._validation_batches = Batches(self.validation_loader)

    def train_epoch(self, iterator: Iterable[Any], info: dict[str, Any]) -> dict[str, Any]:
        """Train on all batches of `iterator`: call `train_batch` on each, and step the schedulers.

        A class may also define `train_epoch(self)` and iterate over `self.train_loader`.

        Args:
            iterator: This worker's batches, to be used up.
            info: The `info` of `TorchTrainer.train`, with "epoch_idx", "num_steps", "use_fp16" and
                "scheduler_step".

        Returns:
            Metrics by name. Means over workers are weighted by "num_samples" if it is there.
        """
        meters = AverageMeterCollection()
        for model in self._registered.models:
            model.train()
        with self.timers.record("epoch"):
            for batch_idx, batch in enumerate(self._shown(iterator, info)):
                metrics = self.train_batch(
                    batch, {"batch_idx": batch_idx, "global_step": self.global_step, **info}
                )
                if self.scheduler_step_freq == "batch":
                    self._registered.step_schedulers()
                meters.update(checked(metrics, f"{type(self).__name__}.train_batch()"))
                self.global_step += 1
        if self.scheduler_step_freq == "epoch":
            self._registered.step_schedulers()
        return meters.summary()

    def train_batch(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Compute the loss of a batch, and update the model.

        Args:
            batch: (*features, target): `criterion(model(*features), target)` is the loss.
            batch_info: "batch_idx" in this epoch, "global_step" from the start, and the `info` of the epoch.

        Returns:
            "train_loss" and "num_samples", the size of the batch. Without "num_samples" it is an error.
        """
        self._check_has_loop("train_epoch", "train_batch")
        features, target = parts_of(batch, self.criterion, self.device)
        with self.timers.record("fwd"):
            loss = only(self.criterion)(only(self.model)(*features), target)
        optimizer = only(self.optimizer)
        with self.timers.record("grad"):
            optimizer.zero_grad()
            self.backward(loss)
        with self.timers.record("apply"):
            self.step(optimizer)
        return {"train_loss": loss.item(), NUM_SAMPLES: target.size(0)}

    def validate(self, val_iterator: Iterable[Any], info: dict[str, Any]) -> dict[str, Any]:
        """Evaluate all batches of `val_iterator` without gradients: call `validate_batch` on each.

        Args:
            val_iterator: This worker's batches.
            info: The `info` of `TorchTrainer.validate`.

        Returns:
            Metrics by name. Means over workers are weighted by "num_samples" if it is there.
        """
        meters = AverageMeterCollection()
        for model in self._registered.models:
            model.eval()
        with torch.no_grad(), self.timers.record("validation"):
            for batch_idx, batch in enumerate(val_iterator):
                metrics = self.validate_batch(batch, {"batch_idx": batch_idx, **info})
                meters.update(checked(metrics, f"{type(self).__name__}.validate_batch()"))
        return meters.summary()

    def validate_batch(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Compute the loss of a batch, and the accuracy if targets are indexes of classes.

        Args:
            batch: (*features, target).
            batch_info: "batch_idx", and the `info` of the validation.

        Returns:
            "val_loss", "val_accuracy" from 0 to 1 and "num_samples". Without "num_samples" it is an error.
        """
        self._check_has_loop("validate", "validate_batch")
        features, target = parts_of(batch, self.criterion, self.device)
        with self.timers.record("eval_fwd"):
            output = only(self.model)(*features)
            metrics = {"val_loss": only(self.criterion)(output, target).item(), NUM_SAMPLES: target.size(0)}
        if not target.is_floating_point() and output.dim() == target.dim() + 1:
            metrics["val_accuracy"] = (output.argmax(dim=1) == target).sum().item() / max(target.numel(), 1)
        return metrics

    def state_dict(self) -> dict[str, Any] | None:
        """Return state of your own for checkpoints, plain data and tensors; the rest is saved in any case."""
        return None

    def load_state_dict(self, state: Any) -> None:
        """Restore what `state_dict` returned."""

    # --- methods for loops of users' own ---------------------------------------------------

    def backward(self, loss: torch.Tensor) -> None:
        """Compute gradients of `loss`; in float16 the loss is scaled first."""
        self._precision.backward(loss)

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """Update parameters from the gradients of the last `backward`; in float16 they are unscaled first."""
        self._precision.step(optimizer)

    @classmethod
    def from_ptl(
        cls, lightning_module_cls: type, train_dataloader: Any = None, val_dataloader: Any = None
    ) -> type[TrainingOperator]:
        """Return an operator that trains a LightningModule; see `LightningOperator`.

        Args:
            lightning_module_cls: The class; it is called with the configuration.
            train_dataloader: Batches for training; by default the module's own.
            val_dataloader: Batches for validation; by default the module's own, if it has them.
        """
        return with_module(cls, lightning_module_cls, train_dataloader, val_dataloader)

    @classmethod
    def from_creators(
        cls,
        model_creator: Any,
        optimizer_creator: Any,
        data_creator: Any = None,
        loss_creator: Any = None,
        scheduler_creator: Any = None,
    ) -> type[TrainingOperator]:
        """Return an operator whose `setup` calls these functions.

        Args:
            model_creator: `config -> model`, or several in a list or tuple.
            optimizer_creator: `(models, config) -> optimizer`, or several.
            data_creator: `config -> (train_loader, validation_loader)` or `config -> train_loader`.
            loss_creator: A class of loss, or `config -> criterion`.
            scheduler_creator: `(optimizers, config) -> scheduler`, or several.
        """
        return with_creators(
            cls,
            model_creator=model_creator,
            optimizer_creator=optimizer_creator,
            data_creator=data_creator,
            loss_creator=loss_creator,
            scheduler_creator=scheduler_creator,
        )

    # --- the parts of the default loops ----------------------------------------------------

    def _part_of(self, loader: Any, is_training: bool) -> Any:
        if not isinstance(loader, Iterable):
            raise UsageError(
                f"register_data: {loader!r:.100} must be a torch.utils.data.DataLoader or another iterable "
                "of batches"
            )
        if not self._add_dist_sampler:
            return loader
        return shared_out(loader, self.world_rank, self.world_size, is_training)

    def _check_has_loop(self, epoch: str, batch: str) -> None:
        if len(self._registered.models) > 1:
            raise TrainableError(
                f"{type(self).__name__} registers {len(self._registered.models)} models: define {epoch} "
                f"or {batch}"
            )

    def _shown(self, iterator: Iterable[Any], info: Mapping[str, Any]) -> Iterable[Any]:
        """Return `iterator`, with a progress bar on the first worker if it was asked for."""
        if not self.use_tqdm or self.world_rank:
            return iterator
        from tqdm import tqdm

        total = info.get("num_steps") or (
            len(self.train_loader) if hasattr(self.train_loader, "__len__") else None
        )
        shown: Iterable[Any] = tqdm(iterator, f"epoch {info.get('epoch_idx', 0) + 1}", total, unit="batch")
        return shown
