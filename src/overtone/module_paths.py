"""Module paths of Ray's that are not here: where their names are, or what to use instead.

A script whose imports were changed from `ray` to `overtone` may import any module of Ray's. `MOVED` has the
module here with the same names; `ABSENT` says what takes a module's place. Neither lists what is a file here.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec as spec_of
from types import ModuleType
from typing import Any

ROOT = "overtone."

_SEARCH = ("ax", "bayesopt", "bohb", "flaml", "hyperopt", "nevergrad", "optuna", "skopt", "zoopt")
_STOPPERS = (
    "experiment_plateau", "function_stopper", "maximum_iteration", "noop", "stopper", "timeout",
    "trial_plateau",
)  # fmt: skip

MOVED = {
    **{f"tune.search.{name}.{name}_search": f"tune.search.{name}" for name in _SEARCH},
    **{f"tune.stopper.{name}": "tune.stopper" for name in _STOPPERS},
    **{
        f"{place}.{name}": f"air.integrations.{name}"
        for name in ("comet", "mlflow", "wandb")
        for place in ("air.callbacks", "tune.integration")
    },
    "air.callbacks": "air.integrations",
    "air.execution": "tune.execution.placement_groups",
    "air.execution.resources": "tune.execution.placement_groups",
    "air.execution.resources.request": "tune.execution.placement_groups",
    "air.callbacks.keras": "air.integrations.keras",
    "air.integrations.aim": "tune.logger.aim",
    "tune.integration.aim": "tune.logger.aim",
    "ml": "air",
    "ml.checkpoint": "air.checkpoint",
    "ml.config": "air.config",
    "ml.result": "air.result",
    "train._checkpoint": "air.checkpoint",
    "train.context": "tune.context",
    "train.session": "air.session",
    "tune.integration.ray_train": "train.tune_report_callback",
    "tune.integration.torch": "train.torch.distributed_trainable",
    "tune.analysis.experiment_analysis": "tune.experiment_analysis",
    "tune.durable_trainable": "tune.trainable",
    "tune.execution.tune_controller": "schedulers.tune_controller",
    "tune.experiment.experiment": "tune.experiment",
    "tune.function_runner": "tune.trainable",
    "tune.trainable.function_trainable": "tune.trainable",
    "tune.trainable.trainable": "tune.trainable",
    "tune.trainable.trainable_fn_utils": "train",
    "tune.trainable.util": "tune.trainable",
    "tune.utils.placement_groups": "tune.execution.placement_groups",
    "tune.variant_generator": "tune.search.variant_generator",
    "util.sgd.torch.constants": "util.sgd.utils",
    "util.sgd.torch.torch_trainer": "util.sgd.torch",
    "util.sgd.torch.training_operator": "util.sgd.torch",
}
"""Paths with the module here that has their names."""

_RAYS = "it is Ray's own and stays there: import ray.{} beside overtone"
_TRAINER = (
    "overtone.train.torch.TorchTrainer and tune.torchrun train in several ranks; for others import ray.{} "
    "beside overtone in a trial with tune.with_resources(..., ray=True)"
)
_PACKAGE = "import its names from overtone.train.{} itself"
_INSIDE = "it is a part of Ray's own machinery, which Overtone does not have"
_DRIVER = "Overtone's own driver does this; a run is seen through tune.Callback and its journal"
_SYNC = "results are kept elsewhere by giving the place's URL as storage_path"
_EXAMPLE = "it is an example of Ray's; examples are in overtone.tune.examples and in the repository"
_SEARCHER = '{} is not wrapped; search_alg="auto" or overtone.tune.search.optuna comes closest'
_DRAGONFLY = (
    "dragonfly-opt does not build beside NumPy 2; overtone.tune.search.bayesopt, "
    'or search_alg="auto", comes closest'
)
_HEBO = 'HEBO needs NumPy below 1.25; search_alg="auto", a Gaussian process, too, comes closest'
_LOGGER = "write a tune.Callback that logs with the library, such as one with log_trial_result"

ABSENT = {
    "_private": _INSIDE,
    "actor": _RAYS,
    "air._internal": _INSIDE,
    "air.batch_predictor": _RAYS.format("data"),
    "air.callbacks": _LOGGER,
    "air.examples": _EXAMPLE,
    "air.execution": f"{_INSIDE}; a trial's resources are a tune.PlacementGroupFactory",
    "air.train": _TRAINER.format("train"),
    "air.util": _RAYS.format("data"),
    "autoscaler": _RAYS,
    "client_builder": _RAYS,
    "cluster_utils": _RAYS,
    "cross_language": _RAYS,
    "dag": _RAYS,
    "dashboard": "`overtone show`, `overtone ls` and `overtone why` show runs",
    "data": _RAYS,
    "experimental": _RAYS,
    "internal": _RAYS,
    "job_config": _RAYS,
    "job_submission": _RAYS,
    "llm": _RAYS,
    "ml": "its names are in overtone.air and overtone.tune",
    "remote_function": _RAYS,
    "rllib": "RLlib stays Ray's: import ray.rllib beside overtone, and give its Algorithm to tune.run",
    "runtime_context": "tune.get_context() has the trial's name, folder and resources",
    "runtime_env": _RAYS,
    "scripts": _RAYS,
    "serve": _RAYS,
    "train._internal": _INSIDE,
    "train.batch_predictor": _RAYS.format("data"),
    "train.callbacks": "write a tune.Callback and give it to tune.run(callbacks=[...])",
    "train.collective": _TRAINER.format("train.collective"),
    "train.error": "an error of Overtone's is an overtone.tune.TuneError, and its analysis holds all results",
    "train.examples": _EXAMPLE,
    "train.gbdt_trainer": _TRAINER.format("train"),
    "train.horovod": _TRAINER.format("train.horovod"),
    "train.huggingface": _PACKAGE.format("huggingface.transformers"),
    "train.huggingface.accelerate": "Accelerate finds its ranks by itself in a TorchTrainer",
    "train.lightgbm": _PACKAGE.format("lightgbm"),
    "train.lightning": _PACKAGE.format("lightning"),
    "train.mosaic": _TRAINER.format("train"),
    "train.predictor": _RAYS.format("data"),
    "train.rl": "RLlib stays Ray's: import ray.rllib beside overtone",
    "train.sklearn": "call scikit-learn in a function of the config, and tune.report its score",
    "train.tensorflow": _PACKAGE.format("tensorflow"),
    "train.torch": _PACKAGE.format("torch"),
    "train.trainer": _TRAINER.format("train"),
    "train.utils": _INSIDE,
    "train.v2": _TRAINER.format("train"),
    "train.xgboost": _PACKAGE.format("xgboost"),
    "tune.automl": "give the space to tune.run, with search_alg=... and scheduler=...",
    "tune.automlboard": "`overtone show` and TensorBoard show runs",
    "tune.checkpoint_manager": _INSIDE,
    "tune.cli": "the command line is `overtone`: see `overtone --help`",
    "tune.cloud": _SYNC,
    "tune.cluster_info": _INSIDE,
    "tune.config_parser": "tune.Experiment takes experiments as data",
    "tune.examples": _EXAMPLE,
    "tune.execution": _DRIVER,
    "tune.experiment.config_parser": "tune.Experiment takes experiments as data",
    "tune.experimental": "progress_reporter=... and verbose=... choose what a run prints",
    "tune.impl": _INSIDE,
    "tune.insufficient_resources_manager": _DRIVER,
    "tune.integration.docker": _SYNC,
    "tune.integration.horovod": _TRAINER.format("train.horovod"),
    "tune.integration.kubernetes": _SYNC,
    "tune.integration.mxnet": (
        "MXNet was retired in 2023, and its last release cannot be imported beside NumPy 1.24 or later; "
        "in an environment where it can, call tune.report at the end of each epoch"
    ),
    "tune.integration.tensorflow": _TRAINER.format("train.tensorflow"),
    "tune.legacy": _INSIDE,
    "tune.ray_trial_executor": _DRIVER,
    "tune.resources": 'write resources as {{"cpu": 2, "gpu": 1}}, or as a tune.PlacementGroupFactory',
    "tune.schedulers.pb2_utils": "tune.schedulers.PB2 has its own Gaussian process",
    "tune.schedulers.util": _INSIDE,
    "tune.search._mock": _INSIDE,
    "tune.search.dragonfly": _DRAGONFLY,
    "tune.search.hebo": _HEBO,
    "tune.search.sigopt": _SEARCHER.format("SigOpt"),
    "tune.search.util": _INSIDE,
    "tune.suggest.dragonfly": _DRAGONFLY,
    "tune.suggest.hebo": _HEBO,
    "tune.suggest.sigopt": _SEARCHER.format("SigOpt"),
    "tune.suggest.util": _INSIDE,
    "tune.trainable.metadata": "a checkpoint has its metadata: Checkpoint.get_metadata()",
    "tune.trial_executor": _DRIVER,
    "tune.trial_runner": _DRIVER,
    "tune.utils.file_transfer": _SYNC,
    "tune.utils.mock": "overtone.testing has engines that fail on purpose",
    "tune.utils.object_cache": _INSIDE,
    "tune.utils.release_test_util": _INSIDE,
    "tune.utils.resource_updater": "overtone.cluster_resources() has the resources that trials share",
    "tune.utils.serialization": "journals are JSON: tune.Experiment takes experiments as data",
    "tune.utils.trainable": _INSIDE,
    "tune.web_server": "`overtone show` shows runs, and Ctrl-C stops them",
    "types": _RAYS,
    "util.sgd.callbacks": "write a tune.Callback and give it to tune.run(callbacks=[...])",
    "util.sgd.data": "register_data takes a torch.utils.data.DataLoader, as does train(dataset=...)",
    "util.sgd.tf": "overtone.train.tensorflow trains Keras models on several workers",
    "util.sgd.torch.examples": _EXAMPLE,
    "util.sgd.torch.func_trainable": "overtone.tune.integration.torch has DistributedTrainableCreator",
    "util.sgd.v2": "its names are in overtone.train",
    "widgets": _INSIDE,
    "workflow": _RAYS,
}
"""Paths with what takes their place; also of every module below. {} is the path itself."""

_OF_RAY, _OURS = "util", "util.sgd"
"""Answered by an installed Ray: `overtone.util.ActorPool` is `ray.util.ActorPool`; and what is not."""


def find_spec(name: str) -> ModuleSpec | None:
    """Return the spec of a module that is elsewhere; None if Ray has no such module.

    Raises:
        ImportError: It is absent; the message says what to use instead.
    """
    path = name.removeprefix(ROOT)
    if path in MOVED:
        return ModuleSpec(name, _Alias(ROOT + MOVED[path]), is_package=True)
    if path.startswith(f"{_OF_RAY}.") and not path.startswith(_OURS):
        if "ray" in sys.modules or spec_of("ray") is not None:
            return ModuleSpec(name, _Alias(f"ray.{path}"), is_package=True)
        raise ImportError(f'{name} is Ray\'s, which is not installed: pip install "overtone[ray]"', name=name)
    above = path
    while above and above not in ABSENT:
        above = above.rpartition(".")[0]
    if not above:
        return None
    raise ImportError(f"there is no {name}: {ABSENT[above].format(path)}", name=name)


class _Alias(Loader):
    """Makes a module with the names of another.

    Args:
        target: The other module's name.
    """

    def __init__(self, target: str) -> None:
        self._target = target

    def create_module(self, spec: ModuleSpec) -> Any:
        """Leave the creation to Python."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Give `module` the names of the target; modules below are found here, and not in its folder."""
        target = import_module(self._target)
        names = getattr(target, "__all__", None) or [name for name in vars(target) if name[0] != "_"]
        vars(module).update(
            __doc__=target.__doc__, __all__=names, __getattr__=lambda name: getattr(target, name)
        )
