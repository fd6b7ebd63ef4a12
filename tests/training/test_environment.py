"""The environment of these tests: frameworks as users install them, on CPUs alone."""

from __future__ import annotations

from importlib.metadata import distributions

import pytest

FRAMEWORKS = ["accelerate", "lightgbm", "lightning", "tensorflow-cpu", "torch", "transformers", "xgboost-cpu"]


def installed() -> set[str]:
    return {distribution.metadata["Name"].lower().replace("_", "-") for distribution in distributions()}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_framework_is_installed(framework):
    assert framework in installed()


def test_no_package_is_for_gpus():
    assert [name for name in installed() if name.startswith(("nvidia-", "triton", "cuda-"))] == []
