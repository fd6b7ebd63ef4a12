"""A trial sees the accelerators of its lease, whichever names and variables Ray uses for them."""

from __future__ import annotations

import pytest

from overtone.core.resources import Resources
from overtone.engines.ray import accelerators
from overtone.engines.ray.lease import Lease

NODE, OTHER = "id-a", "id-b"
CUDA = "CUDA_VISIBLE_DEVICES"


def seen(bundles: list[dict[str, float]], nodes: list[str], *devices: dict[str, str]) -> dict[str, str]:
    shape = Resources(tuple(tuple(sorted(one.items())) for one in bundles))
    found = accelerators.by_bundle(shape, [tuple(one.items()) for one in devices])
    return dict(accelerators.on_first_node(shape, nodes, found))


@pytest.mark.parametrize("id", ["0", "GPU-1a2b", "MIG-77"])
def test_gpus_are_seen_by_the_names_that_ray_gives_them(id: str) -> None:
    assert seen([{"cpu": 1, "gpu": 1}], [NODE], {CUDA: id}) == {CUDA: id}


def test_a_trial_with_other_accelerators_sees_no_gpus() -> None:
    assert seen([{"TPU": 1}], [NODE], {"TPU_VISIBLE_CHIPS": "2"}) == {CUDA: "", "TPU_VISIBLE_CHIPS": "2"}


def test_gpus_of_another_maker_are_not_hidden_by_the_variable_of_nvidia() -> None:
    assert seen([{"gpu": 1}], [NODE], {"HIP_VISIBLE_DEVICES": "3"}) == {"HIP_VISIBLE_DEVICES": "3"}


def test_where_ray_was_told_to_set_no_variable_none_is_set() -> None:
    assert seen([{"gpu": 1}], [NODE], {}) == {}


def test_bundles_on_the_same_node_are_joined_and_those_of_other_nodes_are_not_seen() -> None:
    gpu = {"gpu": 0.5}
    devices = [{CUDA: "MIG-a"}, {CUDA: "MIG-a"}, {CUDA: "MIG-b,MIG-c"}, {CUDA: "GPU-other"}]
    nodes = ["", NODE, NODE, NODE, OTHER]
    assert seen([{}, gpu, gpu, {"gpu": 2}, {"gpu": 1}], nodes, *devices) == {CUDA: "MIG-a,MIG-b,MIG-c"}


def test_a_rank_sees_the_accelerators_of_its_bundle_alone() -> None:
    shape = Resources.of([{"cpu": 1}, {"gpu": 1}, {"gpu": 1}, {"TPU": 1}])
    probed = [((CUDA, "0"),), ((CUDA, "1"),), (("TPU_VISIBLE_CHIPS", "2"),)]
    lease = Lease(shape, (NODE, NODE, NODE, OTHER), devices=accelerators.by_bundle(shape, probed))
    assert [dict(lease.devices_of(index) or ()) for index in range(4)] == [
        {CUDA: ""}, {CUDA: "0"}, {CUDA: "1"}, {CUDA: "", "TPU_VISIBLE_CHIPS": "2"},
    ]  # fmt: skip
    assert dict(lease.devices_of_trial() or ()) == {CUDA: "0,1"}
    assert Lease(shape, (NODE,) * 4).devices_of(1) is None


def test_the_bounds_of_a_tpu_hold_for_one_bundle_only() -> None:
    def of(chips: str) -> dict[str, str]:
        return {"TPU_VISIBLE_CHIPS": chips, "TPU_HOST_BOUNDS": "1,1,1"}

    assert seen([{"TPU": 1}], [NODE], of("1")) == {CUDA: "", **of("1")}
    joined = seen([{"TPU": 1}, {"TPU": 1}], [NODE, NODE], of("1"), of("0"))
    assert joined == {CUDA: "", "TPU_VISIBLE_CHIPS": "1,0"}


def test_without_rays_own_classes_the_known_variables_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray._private.accelerators", None)
    accelerators.variables.cache_clear()
    try:
        assert accelerators.variables()["neuron_cores"] == ("NEURON_RT_VISIBLE_CORES",)
        assert accelerators.has_accelerators((("TPU", 1.0),))
        assert not accelerators.has_accelerators((("cpu", 1.0), ("license", 1.0)))
    finally:
        accelerators.variables.cache_clear()


def test_all_accelerators_that_ray_knows_have_a_variable() -> None:
    ray = pytest.importorskip("ray._private.accelerators")
    for manager in ray.get_all_accelerator_managers():
        variable = manager.get_visible_accelerator_ids_env_var()
        assert variable is None or variable in accelerators.variables()[manager.get_resource_name()]
