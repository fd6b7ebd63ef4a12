"""Module paths of Ray's that are not files here."""

import importlib
import sys
from types import ModuleType

import pytest

import overtone
from overtone.module_paths import ABSENT, MOVED, ROOT


@pytest.mark.parametrize("path", MOVED)
def test_a_module_that_moved_has_the_names_of_the_one_here(path):
    parent = path.rpartition(".")[0]
    try:
        importlib.import_module(ROOT + MOVED[path])
    except ImportError as error:
        assert "needs" in str(error)  # an optional package
        return
    module, target = importlib.import_module(ROOT + path), importlib.import_module(ROOT + MOVED[path])
    for name in module.__all__:
        if isinstance(inner := getattr(target, name), ModuleType):  # has a path of its own
            assert all(getattr(getattr(module, name), one) is getattr(inner, one) for one in inner.__all__)
        else:
            assert getattr(module, name) is inner
    assert not parent or getattr(importlib.import_module(ROOT + parent), path.rpartition(".")[2]) is module


PACKAGES = {
    f"train.{name}" for name in ("huggingface", "lightgbm", "lightning", "tensorflow", "torch", "xgboost")
}


@pytest.mark.parametrize("path", ABSENT)
def test_an_absent_module_says_what_to_use_instead(path):
    try:
        importlib.import_module(ROOT + path)
    except ImportError as error:
        assert not isinstance(error, ModuleNotFoundError)
        if path in PACKAGES:
            assert " needs " in str(error)  # an optional package
            return
        assert str(error).startswith(f"there is no {ROOT}{path}: ")
        assert "{" not in str(error).replace('{"', "")
    else:
        assert path in {*MOVED, *PACKAGES, "tune.examples", "tune.execution"}  # absent is what lies below
    with pytest.raises(ImportError, match=f"there is no {ROOT}{path}"):
        importlib.import_module(f"{ROOT}{path}.below")


def test_from_imports_say_it_too():
    with pytest.raises(ImportError, match=r"there is no overtone.rllib: RLlib stays Ray's: import ray.rllib"):
        from overtone import rllib  # noqa: F401
    with pytest.raises(ImportError, match=r"there is no overtone.rllib"):
        from overtone.rllib.algorithms.ppo import PPO  # noqa: F401
    with pytest.raises(ImportError, match=r"overtone.tune.execution.cluster_info: Overtone's own driver"):
        from overtone.tune.execution import cluster_info  # noqa: F401


def test_attributes_say_it_too():
    with pytest.raises(
        AttributeError, match=r"there is no overtone.data: .* import ray.data beside overtone"
    ):
        _ = overtone.data
    with pytest.raises(AttributeError, match=r"overtone.train.horovod: overtone.train.torch.TorchTrainer"):
        _ = importlib.import_module("overtone.train").horovod
    assert overtone.ml.config.RunConfig is importlib.import_module("overtone.tune").RunConfig
    assert not hasattr(importlib.import_module("overtone.tune"), "nothing")


def test_a_name_of_nothing_is_missing_as_any_other():
    with pytest.raises(ModuleNotFoundError, match="No module named 'overtone.tune.nothing'"):
        importlib.import_module("overtone.tune.nothing")
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from overtone.tune import nothing  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="No module named 'nothing_at_all'"):
        importlib.import_module("nothing_at_all")


def test_a_star_import_of_a_moved_module_has_its_names():
    found = {}
    exec("from overtone.tune.stopper.trial_plateau import *", found)
    assert (
        found["TrialPlateauStopper"] is importlib.import_module("overtone.tune.stopper").TrialPlateauStopper
    )


@pytest.fixture
def without_util(monkeypatch):
    for name in [
        name for name in sys.modules if name == "overtone.util" or name.startswith("overtone.util.")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(overtone, "util", raising=False)
    yield
    for name in [
        name for name in sys.modules if name == "overtone.util" or name.startswith("overtone.util.")
    ]:
        del sys.modules[name]
    vars(overtone).pop("util", None)


def test_util_is_that_of_an_installed_ray(monkeypatch, without_util):
    ray, util, pools = ModuleType("ray"), ModuleType("ray.util"), ModuleType("ray.util.multiprocessing")
    util.ActorPool, pools.Pool, util.__path__ = object(), object(), []
    for module in (ray, util, pools):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    from overtone.util.multiprocessing import Pool

    from overtone.util import ActorPool

    assert (ActorPool, Pool) == (util.ActorPool, pools.Pool)


def test_util_without_ray_names_the_extra(monkeypatch, without_util):
    monkeypatch.setattr("overtone.module_paths.spec_of", lambda name: None)
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    with pytest.raises(
        ImportError, match=r'multiprocessing is Ray\'s, which is not installed: pip install "overtone\[ray\]"'
    ):
        importlib.import_module("overtone.util.multiprocessing")


def test_errors_and_cloudpickle_are_had_as_attributes():
    import cloudpickle

    assert overtone.cloudpickle.dumps is cloudpickle.dumps
    assert issubclass(overtone.exceptions.RayTaskError, overtone.exceptions.RayError)
    with pytest.raises(
        AttributeError, match=r"import ray beside it, and write ray.exceptions.ObjectLostError"
    ):
        _ = overtone.exceptions.ObjectLostError


def test_types_of_air_are_had():
    from overtone.air.execution import ResourceRequest

    from overtone import air
    from overtone.air.data_batch_type import DataBatchType

    assert air.DataBatchType is DataBatchType
    assert air.ResourceRequest is ResourceRequest
    assert air.ResourceRequest([{"CPU": 2}]).head_cpus == 2
