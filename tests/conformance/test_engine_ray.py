"""The Ray engine keeps the contract of an engine, on a cluster of one node."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from overtone.core.protocols import Engine
from overtone.testing.engine_conformance import EngineConformance
from tests.slow_ray import patiently

pytest.importorskip("ray", reason="the cluster engine needs Ray")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    import ray

    if not hasattr(ray, "init"):
        pytest.skip("the cluster engine needs Ray")
    options = {"num_cpus": 2, "object_store_memory": 80_000_000, "include_dashboard": False}
    patiently(lambda: ray.init("local", **options))
    yield
    ray.shutdown()


@pytest.mark.filterwarnings("default")  # Ray's own are not ours to mend
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
class TestRay(EngineConformance):
    def make_engine(self) -> Engine:
        from overtone.engines.local.on_node import LocalOnNodes
        from overtone.engines.ray import Ray

        return Ray(LocalOnNodes())
