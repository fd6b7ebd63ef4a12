"""The GPU memory of a trial in its own process: its soft limit, its peak, and the end of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.testing.fake_channel import FakeChannel
from overtone.testing.folder_store import FolderStore
from overtone.worker.protocol import order_frame, order_reader
from overtone.worker.server.run_trial import run_trial
from overtone.worker.trial_gpu_memory import is_counted, is_out_of_memory, limit, peak


def start(memory: Any = "2GB", **others: Any) -> Start:
    demand = Resources.of({"gpu_memory": memory, **others})
    share = dict(demand.bundles[0])["gpu"]
    return Start("t", 0, 0, {}, demand, Placement(("local",), (((0, share),),)), until_t=99)


class FakeCuda(ModuleType):
    """`torch.cuda` with two GPUs of 8 GB."""

    def __init__(self) -> None:
        super().__init__("torch.cuda")
        self.fractions: dict[int, float] = {}
        self.calls: list[Callable[[], None]] = []
        self.is_up = False

    def _lazy_call(self, call: Callable[[], None]) -> None:
        self.calls.append(call)

    def start(self) -> None:
        self.is_up = True
        for call in self.calls:
            call()

    def is_initialized(self) -> bool:
        return self.is_up

    def device_count(self) -> int:
        return 2

    def get_device_properties(self, index: int) -> Any:
        return SimpleNamespace(total_memory=8e9)

    def set_per_process_memory_fraction(self, fraction: float, index: int) -> None:
        self.fractions[index] = fraction

    def max_memory_reserved(self, index: int) -> int:
        return (3, 5)[index]


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    fake = FakeCuda()
    monkeypatch.setitem(sys.modules, "torch.cuda", fake)
    return fake


def test_the_limit_is_set_when_cuda_is_first_used(cuda: FakeCuda) -> None:
    limit(start("2GB"))
    assert cuda.fractions == {}
    cuda.start()
    assert cuda.fractions == {0: 0.25, 1: 0.25}


@pytest.mark.parametrize("of", [start("auto"), start("2GB", gpu=1)])
def test_a_trial_with_a_gpu_of_its_own_has_no_limit(cuda: FakeCuda, of: Start) -> None:
    limit(of)
    assert not cuda.calls


def test_torch_may_be_imported_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import torch.cuda\n")
    (tmp_path / "torch" / "cuda.py").write_text("calls = []\n_lazy_call = calls.append\n")
    for name in ("torch", "torch.cuda"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = list(sys.meta_path)
    limit(start("2GB"))
    import torch.cuda

    assert len(torch.cuda.calls) == 1  # type: ignore[attr-defined]
    assert sys.meta_path == before


def test_a_limit_that_cannot_be_set_harms_nobody(cuda: FakeCuda) -> None:
    cuda.get_device_properties = None  # type: ignore[assignment,method-assign]
    limit(start())
    cuda.start()
    del FakeCuda._lazy_call
    try:
        limit(start())  # another version of PyTorch
    finally:
        FakeCuda._lazy_call = lambda self, call: self.calls.append(call)  # type: ignore[method-assign]


def test_the_peak_is_that_of_the_fullest_gpu(cuda: FakeCuda) -> None:
    assert peak(start("auto")) == 0.0
    cuda.start()
    assert peak(start("auto")) == 5.0
    assert peak(start("2GB")) == 0.0  # nobody asks


class OutOfMemoryError(RuntimeError):
    """As PyTorch names it."""

    __module__ = "torch"


def chained() -> Exception:
    try:
        try:
            raise OutOfMemoryError("too much")
        except OutOfMemoryError as error:
            raise ValueError("the training failed") from error
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    ("error", "is_excess"),
    [
        (OutOfMemoryError("any text"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate"), True),
        (RuntimeError("OOM when allocating tensor with shape[10]"), True),
        (chained(), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), False),
        (MemoryError(), False),
        (KeyboardInterrupt("CUDA out of memory"), False),
    ],
)
def test_which_errors_say_that_a_gpu_is_full(error: BaseException, is_excess: bool) -> None:
    assert is_out_of_memory(error) is is_excess


def run(of: Start) -> tuple[bool, list[Any]]:
    def train(config: Any) -> None:
        raise RuntimeError("CUDA out of memory")

    channel = FakeChannel(())
    is_clean = run_trial(channel, Job(train, "train", Path("exp"), store=FolderStore(Path("store"))), of)
    return is_clean, channel.sent


def test_it_is_no_failure_of_a_trial_that_asked_for_gpu_memory(cuda: FakeCuda) -> None:
    cuda.is_up = True
    is_clean, sent = run(start("auto"))
    assert sent[-2] == ("gpu_memory", "t", 0, 5.0)
    assert sent[-1][3] == "out_of_memory"
    assert "CUDA out of memory" in sent[-1][5]
    assert not is_clean  # the process ends, and its memory is free
    plain = replace(start(), resources=Resources.of({"gpu": 0.25}))
    assert run(plain)[1][-1][3] == "raised"


def test_what_counts() -> None:
    assert is_counted(start("auto"))
    assert is_counted(start("1GB"))
    assert not is_counted(replace(start(), resources=Resources.of({"gpu": 0.25})))


def test_a_start_keeps_its_demand_on_the_way() -> None:
    for one in (start("auto:batch_size"), start("2GB")):
        (received,) = order_reader().feed(order_frame(one))
        assert received == one
