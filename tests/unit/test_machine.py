"""`import overtone as ray`: this machine under the names of a cluster."""

import pytest

import overtone as ray
from overtone import machine


@pytest.fixture(autouse=True)
def forgotten():
    yield
    ray.shutdown()


def test_init_is_remembered_until_shutdown():
    assert not ray.is_initialized()
    ray.init(address="auto", _redis_password="123", ignore_reinit_error=True)
    assert ray.is_initialized()
    ray.shutdown()
    assert not ray.is_initialized()


def test_what_init_names_is_what_experiments_may_use():
    ray.init(num_cpus=3, num_gpus=2, resources={"license": 1})
    assert machine.declared() == {"cpu": 3.0, "gpu": 2.0, "license": 1.0}
    resources = ray.cluster_resources()
    assert (resources["CPU"], resources["GPU"], resources["license"]) == (3.0, 2.0, 1.0)


def test_nothing_is_declared_by_default():
    ray.init()
    assert machine.declared() == {}
    assert ray.available_resources()["CPU"] >= 1


def test_a_resource_of_none_is_not_listed():
    ray.init(num_gpus=0)
    assert "GPU" not in ray.cluster_resources()


def test_the_context_shuts_down():
    with ray.init() as context:
        assert context.address_info["node_ip_address"] == "127.0.0.1"
        assert ray.is_initialized()
    assert not ray.is_initialized()


def test_wait_has_everything_at_once():
    assert ray.wait(["a", "b", "c"], num_returns=2, timeout=1) == (["a", "b"], ["c"])


def test_there_is_one_node():
    (node,) = ray.nodes()
    assert node["Alive"]
    assert node["Resources"] == ray.cluster_resources()


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'remote'"):
        ray.remote  # noqa: B018


def test_the_gpus_of_a_trial_may_have_names(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, MIG-a,GPU-b")
    assert ray.get_gpu_ids() == [3, "MIG-a", "GPU-b"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert ray.get_gpu_ids() == []
