"""Waiting until a GPU is free, with stand-ins of the libraries that look."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from overtone.errors import MissingPackageError, ResourceError
from overtone.tune.utils.util import wait_for_gpu


class NVMLError(Exception):
    pass


@pytest.fixture(params=["pynvml", "GPUtil"])
def used(request, monkeypatch):
    """The fractions in use that the next looks at the GPUs 0 ("GPU-a") and 1 ("GPU-b") find."""
    looks, names = [], ["GPU-a", "GPU-b"]

    def by_index(i):
        if i >= len(names):
            raise NVMLError("not found")
        return i

    def by_uuid(name):
        if name not in names:
            raise NVMLError("not found")

    nvml = ModuleType("pynvml")
    nvml.NVMLError, nvml.nvmlInit, nvml.nvmlShutdown = NVMLError, lambda: None, lambda: None
    nvml.nvmlDeviceGetHandleByIndex, nvml.nvmlDeviceGetHandleByUUID = by_index, by_uuid
    nvml.nvmlDeviceGetMemoryInfo = lambda _: SimpleNamespace(used=looks.pop(0), total=1)

    class GPU(SimpleNamespace):
        @property
        def memoryUtil(self):
            return looks.pop(0)

    gputil = ModuleType("GPUtil")
    gputil.getGPUs = lambda: [GPU(id=i, uuid=name) for i, name in enumerate(names)]
    for module in (nvml, gputil):
        monkeypatch.setitem(sys.modules, module.__name__, module if module.__name__ == request.param else None)
    return looks


@pytest.mark.parametrize("gpu", [0, "1", "GPU-a", None])
def test_it_waits_until_the_memory_is_free(used, monkeypatch, gpu):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-b,GPU-a")
    used += [0.5, 0.005]
    assert wait_for_gpu(gpu, delay_s=0)
    assert used == []


@pytest.mark.parametrize("gpu", [2, "4", 1.23, "GPU-c"])
def test_a_gpu_that_is_not_there_is_an_error(used, gpu):
    with pytest.raises(ResourceError, match=f"gpu_id='{gpu}': there is no such GPU"):
        wait_for_gpu(gpu, delay_s=0)


def test_a_gpu_that_stays_in_use_is_an_error(used):
    used += [0.5, 0.4]
    with pytest.raises(ResourceError, match=r"GPU 0 still has 40% of its memory in use after 2 looks"):
        wait_for_gpu(0, retry=2, delay_s=0, gpu_memory_limit=0.3)


def test_without_a_library_the_extra_is_named(monkeypatch):
    for name in ("pynvml", "GPUtil"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match="nvidia-ml-py"):
        wait_for_gpu(0)
