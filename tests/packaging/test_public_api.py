"""The public names: a snapshot, and that each can be had and is known to type checkers."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from overtone.lazy import stated

SNAPSHOT = Path(__file__).with_name("public_api.txt")
SOURCE = Path(__file__).parents[2] / "src"
LAZY = ["overtone", "overtone.air", "overtone.train", "overtone.train.lightgbm", "overtone.train.tensorflow",
        "overtone.train.xgboost", "overtone.tune", "overtone.tune.utils", "overtone.tune.schedulers",
        "overtone.tune.search", "overtone.tune.suggest", "overtone.research", "overtone.sklearn"]  # fmt: skip
EAGER = ["overtone.air.config", "overtone.air.session", "overtone.air.checkpoint", "overtone.air.result",
         "overtone.tune.async_hyperband", "overtone.tune.context", "overtone.tune.experiment_analysis",
         "overtone.tune.hyperband", "overtone.tune.median_stopping_rule", "overtone.tune.pbt",
         "overtone.tune.search.variant_generator", "overtone.tune.suggest.variant_generator",
         "overtone.tune.track", "overtone.tune.analysis", "overtone.tune.callback",
         "overtone.tune.error",
         "overtone.tune.logger", "overtone.tune.progress_reporter", "overtone.tune.result_grid",
         "overtone.tune.sample", "overtone.tune.schedulers.async_hyperband",
         "overtone.tune.schedulers.hb_bohb", "overtone.tune.schedulers.hyperband",
         "overtone.tune.schedulers.median_stopping_rule",
         "overtone.tune.schedulers.pb2",
         "overtone.tune.schedulers.pbt", "overtone.tune.schedulers.resource_changing_scheduler",
         "overtone.tune.search.basic_variant", "overtone.tune.search.sample",
         "overtone.tune.search.searcher", "overtone.tune.stopper",
         "overtone.tune.suggest.basic_variant", "overtone.tune.suggest.suggestion",
         "overtone.tune.trainable"]  # fmt: skip


def lazy_names(package: str) -> dict[str, str]:
    """The module of each name in a lazy package's stub; a submodule's own is the package."""
    importlib.import_module(package)
    return stated(package)


def public_api() -> list[str]:
    lines = [f"{package}.{name}" for package in LAZY for name in lazy_names(package)]
    lines += [f"{module}.{name}" for module in EAGER for name in importlib.import_module(module).__all__]
    return sorted([*lines, "overtone.tune.checkpoint", "overtone.tune.params"])


def test_the_public_names_are_those_of_the_snapshot():
    # after a change that is meant: write public_api() to the file, and say so in CHANGELOG.md
    assert public_api() == SNAPSHOT.read_text("utf-8").split()


@pytest.mark.parametrize("package", LAZY)
def test_every_lazy_name_can_be_had(package):
    module = importlib.import_module(package)
    assert [name for name in lazy_names(package) if getattr(module, name, None) is None] == []
    assert set(lazy_names(package)) <= set(dir(module))


@pytest.mark.parametrize("package", LAZY)
def test_no_lazy_name_is_that_of_its_module(package):
    # the import of `package.name` would put the module where users look for the name
    assert [name for name, home in lazy_names(package).items() if home == f"{package}.{name}"] == []


@pytest.mark.parametrize(
    "stub", sorted(SOURCE.rglob("*.pyi")), ids=lambda stub: ".".join(stub.parent.relative_to(SOURCE).parts)
)
def test_type_checkers_see_the_same_names(stub):
    package = ".".join(stub.parent.relative_to(SOURCE).parts)
    imports = [node for node in ast.parse(stub.read_text("utf-8")).body if isinstance(node, ast.ImportFrom)]
    seen = {
        alias.asname: node.module for node in imports for alias in node.names if alias.asname == alias.name
    }
    assert seen == lazy_names(package)
    assert set(seen) == {alias.asname for node in imports for alias in node.names if alias.asname}
    assert [name for name in seen if getattr(importlib.import_module(package), name, None) is None] == []
