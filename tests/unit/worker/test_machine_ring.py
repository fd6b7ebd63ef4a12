"""Samples of machines, and the files that hold the last of them."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace

import pytest

from overtone.reading.machine_samples import machine_samples
from overtone.store.folder_mark import FolderMark
from overtone.worker.machines import sample as module
from overtone.worker.machines.ring import FOLDER, HEADER, Ring, file_name, node_of, record_bytes
from overtone.worker.machines.sample import GpuSample, MachineSample, MachineSampler, sample_of


def sample(time, n_gpus=0):
    gpus = tuple(GpuSample(0.5, 1e9 * (i + 1), 8e9) for i in range(n_gpus))
    return MachineSample(float(time), 0.25, 4.0, 1e9, 4e9, 1e10, 1e11, gpus)


@pytest.fixture
def ring(tmp_path):
    """Opens rings of 8 places, as drivers one after the other do."""
    rings = []

    def make(node="node"):
        rings.append(Ring(FolderMark(str(tmp_path)), node, places=8))
        return rings[-1]

    yield make
    for one in rings:
        one.close()


def times(folder, node="node"):
    return machine_samples(folder)[node].time.tolist()


def test_samples_come_back_as_arrays(ring, tmp_path):
    one = ring()
    for time in range(3):
        one.put(sample(time, n_gpus=2))
    found = machine_samples(tmp_path)["node"]
    assert found.time.tolist() == [0, 1, 2]
    assert found.cpu.tolist() == [0.25] * 3
    assert found.gpu_memory_used.tolist() == [[1e9, 2e9]] * 3
    assert found.gpu_use.shape == (3, 2)


def test_the_newest_replace_the_oldest(ring, tmp_path):
    one = ring()
    for time in range(21):
        one.put(sample(time))
    assert times(tmp_path) == list(range(13, 21))
    size = (tmp_path / FOLDER / file_name("node")).stat().st_size
    assert size == HEADER.size + 8 * record_bytes(0)


@pytest.mark.parametrize("count", [3, 8, 11])
def test_the_next_driver_goes_on(ring, tmp_path, count):
    for begin in (0, count):
        one = ring()
        for time in range(begin, begin + count):
            one.put(sample(time))
    assert times(tmp_path) == list(range(2 * count))[-8:]


def test_a_machine_with_other_gpus_begins_anew(ring, tmp_path):
    ring().put(sample(1))
    ring().put(sample(2, n_gpus=1))
    assert times(tmp_path) == [2]


def test_a_torn_record_is_left_out(ring, tmp_path):
    one = ring()
    for time in range(3):
        one.put(sample(time))
    path = tmp_path / FOLDER / file_name("node")
    data = bytearray(path.read_bytes())
    data[HEADER.size + record_bytes(0) + 30] ^= 1
    path.write_bytes(data[:-1])
    assert times(tmp_path) == [0]
    ring().put(sample(9))
    assert times(tmp_path) == [0, 9]


@pytest.mark.parametrize("data", [b"", b"x", b"x" * 1000, HEADER.pack(b"OVTRING1", 60000, 8)])
def test_a_file_that_is_none_is_replaced(ring, tmp_path, data):
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / file_name("node")).write_bytes(data)
    machine_samples(tmp_path)  # which leaves it out
    ring().put(sample(1))
    assert times(tmp_path) == [1]


@pytest.mark.parametrize("node", ["node", "10.0.0.1#2", "../../etc", "a/b", ".", "überall"])
def test_names_of_nodes(ring, tmp_path, node):
    ring(node).put(sample(1))
    assert list(machine_samples(tmp_path)) == [node] == [node_of(file_name(node))]
    assert [one.name for one in tmp_path.iterdir()] == [FOLDER]


def test_a_folder_that_was_deleted_stays_so(ring, tmp_path):
    one = ring()
    tmp_path.rmdir()
    one.put(sample(1))
    assert not tmp_path.exists()
    tmp_path.mkdir()


def test_an_experiment_without_samples(tmp_path):
    assert machine_samples(tmp_path) == {}


def test_this_machine(tmp_path):
    sampler = MachineSampler(tmp_path)
    first, second = sampler.sample(), sampler.sample()
    assert math.isnan(first.cpu)
    assert math.isnan(second.cpu) or 0 <= second.cpu <= 1
    assert 0 < first.memory_used < first.memory_total
    assert 0 < first.disk_used < first.disk_total
    assert first.n_cpus >= 1
    assert repr(sample_of(first.as_numbers())) == repr(first)


class FakeNvml:
    """Two GPUs; the second is split, and has no use of its own."""

    class NVMLError(Exception):
        pass

    def nvmlInit(self):
        pass

    def nvmlDeviceGetCount(self):
        return 2

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetUtilizationRates(self, handle):
        if handle:
            raise self.NVMLError("not supported")
        return SimpleNamespace(gpu=75)

    def nvmlDeviceGetMemoryInfo(self, handle):
        return SimpleNamespace(used=10, total=80)


def test_gpus(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml())
    monkeypatch.setattr(module.os.path, "isdir", lambda path: False)
    first, second = MachineSampler(tmp_path).sample().gpus
    assert first == (0.75, 10, 80)
    assert math.isnan(second.use)
    assert second[1:] == (10, 80)


@pytest.mark.parametrize("error", [FakeNvml.NVMLError("no driver"), PermissionError()])
def test_a_machine_whose_nvml_does_not_work_has_no_gpus(monkeypatch, tmp_path, error):
    def refuse():
        raise error

    nvml = FakeNvml()
    nvml.nvmlInit = refuse
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setattr(module.os.path, "isdir", lambda path: False)
    assert MachineSampler(tmp_path).sample().gpus == ()


@pytest.mark.parametrize("count", [0, 6, 8, 9])
def test_numbers_that_are_no_sample(count):
    with pytest.raises(ValueError, match="not a sample"):
        sample_of([0.0] * count)
