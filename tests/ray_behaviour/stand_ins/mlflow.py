"""Stands in for MLflow: `told` has what it is told."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

from told import tell

__version__ = "3.0"
EXPERIMENTS = {"7": "known"}
"""The experiments by their ids."""


class MlflowException(Exception):
    pass


def _noted(name, result=None):
    def call(*args, **kwargs):
        tell(name, *args, kwargs)
        return result(*args, **kwargs) if callable(result) else result

    return call


def _get(experiment_id):
    if experiment_id not in EXPERIMENTS:
        raise MlflowException
    return SimpleNamespace(experiment_id=experiment_id)


def get_experiment_by_name(name):
    return next(
        (SimpleNamespace(experiment_id=one) for one, known in EXPERIMENTS.items() if known == name), None
    )


get_experiment = _get
set_tracking_uri, set_registry_uri = _noted("set_tracking_uri"), _noted("set_registry_uri")
create_experiment = _noted("create_experiment", "8")
start_run, log_param = _noted("start_run"), _noted("log_param")


def active_run():
    return None


def get_run(run_id):
    return run_id


def get_tracking_uri():
    return "tracking"


def get_registry_uri():
    return "registry"


class MlflowClient:
    def __init__(self, tracking_uri=None, registry_uri=None):
        facts = {"info": SimpleNamespace(run_id="run"), "data": SimpleNamespace(params={}, tags={})}
        self.create_run = _noted("create_run", SimpleNamespace(**facts))

    def search_runs(self, *args, **kwargs):
        return []

    def log_batch(self, run_id, metrics=(), params=()):
        for one in metrics:
            tell("log_metric", vars(one))
        for one in params:
            tell("log_param", vars(one))

    def __getattr__(self, name):
        return _noted(name)


def _module(name, **names):
    sys.modules[f"mlflow.{name}"] = module = ModuleType(f"mlflow.{name}")
    vars(module).update(names)
    globals()[name] = module


_module("entities", Metric=SimpleNamespace, Param=SimpleNamespace)
_module("exceptions", MlflowException=MlflowException)
_module("tracking", MlflowClient=MlflowClient)
_module("utils")
_module("utils.mlflow_tags", MLFLOW_RUN_NAME="mlflow.runName")
