"""`prepare_model`, `prepare_data_loader` and what goes with them, in two ranks and alone."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import textwrap
from collections import namedtuple

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

from overtone.errors import ArgumentError
from overtone.train import torch as train_torch
from overtone.train.torch.data_loader import MovedLoader, moved
from overtone.train.torch.rendezvous import rendezvous

BEGIN = """
import json, torch, torch.distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
def tell(value):
    print(json.dumps(value), flush=True)
"""


def told_by_ranks(program: str, n: int = 2) -> list[list]:
    """Run `program` in n ranks; return what each rank told by `tell(value)`, by rank."""
    with rendezvous() as variables:
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", BEGIN + textwrap.dedent(program) + "\ndist.destroy_process_group()\n"],
                env={**os.environ, **variables, **torchrun_variables(rank, n)},
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(n)
        ]
        outputs = [process.communicate(timeout=800)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * n
    return [[json.loads(line) for line in output.splitlines()] for output in outputs]


def torchrun_variables(rank: int, n: int) -> dict[str, str]:
    values = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": n, "LOCAL_WORLD_SIZE": n, "GROUP_RANK": 0}
    restarts = {
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_MAX_RESTARTS": "0",
        "TORCHELASTIC_RUN_ID": "x",
    }
    return {**{name: str(value) for name, value in values.items()}, **restarts, "GLOO_SOCKET_IFNAME": "lo"}


@pytest.fixture(scope="module")
def told():
    return told_by_ranks("""
        import warnings
        from torch.utils.data import BatchSampler, DataLoader, IterableDataset, SequentialSampler, TensorDataset
        from torch.utils.data import WeightedRandomSampler
        from overtone.train.torch import prepare_data_loader, prepare_model

        def numbers(loader):
            return [batch[0].flatten().int().tolist() for batch in loader]

        told = {}
        data = TensorDataset(torch.arange(10.0)[:, None])
        shuffled = prepare_data_loader(DataLoader(data, batch_size=3, shuffle=True))
        told["epochs"] = [numbers(shuffled), numbers(shuffled), numbers(shuffled)]
        again = prepare_data_loader(DataLoader(data, batch_size=3, shuffle=True))
        again.sampler.set_epoch(2)
        told["third"] = numbers(again)
        odd = TensorDataset(torch.arange(5.0)[:, None])
        told["padded"] = numbers(prepare_data_loader(DataLoader(odd, batch_size=2)))
        told["dropped"] = numbers(prepare_data_loader(DataLoader(odd, batch_size=2, drop_last=True)))
        told["whole"] = numbers(prepare_data_loader(DataLoader(odd, batch_size=8), add_dist_sampler=False))
        told["workers"] = numbers(prepare_data_loader(DataLoader(data, batch_size=5, num_workers=1)))
        class Stream(IterableDataset):
            def __iter__(self):
                return iter([torch.tensor([1.0])])
        told["stream"] = numbers(prepare_data_loader(DataLoader(Stream(), batch_size=None)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            weighted = WeightedRandomSampler([1.0] * 10, 10)
            prepare_data_loader(DataLoader(data, sampler=weighted))
        told["warnings"] = [str(one.message) for one in caught]
        try:
            batches = BatchSampler(SequentialSampler(data), 2, False)
            prepare_data_loader(DataLoader(data, batch_sampler=batches))
        except ValueError as error:
            told["refused"] = str(error)

        torch.manual_seed(rank)
        model = prepare_model(torch.nn.Linear(1, 1), parallel_strategy_kwargs={"find_unused_parameters": True})
        told["model"] = [type(model).__name__, [float(p) for p in model.parameters()]]
        model(torch.tensor([[float(rank)]])).sum().backward()
        told["gradient"] = float(model.module.weight.grad)
        told["plain"] = type(prepare_model(torch.nn.Linear(1, 1), parallel_strategy=None)).__name__
        tell(told)
    """)


def of_ranks(told, name):
    return [one[0][name] for one in told]


def flat(batches):
    return [number for batch in batches for number in batch]


def test_each_rank_gets_its_part_in_each_epoch(told):
    for epoch in range(3):
        first, second = (flat(one[epoch]) for one in of_ranks(told, "epochs"))
        assert sorted(first + second) == list(range(10))


def test_epochs_differ_without_set_epoch(told):
    first, second, third = (flat(epoch) for epoch in of_ranks(told, "epochs")[0])
    assert first != second != third


def test_set_epoch_chooses_the_order(told):
    assert of_ranks(told, "third") == [epochs[2] for epochs in of_ranks(told, "epochs")]


def test_uneven_data_is_padded_or_dropped(told):
    assert of_ranks(told, "padded") == [[[0, 2], [4]], [[1, 3], [0]]]
    assert [len(flat(one)) for one in of_ranks(told, "dropped")] == [2, 2]


def test_a_loader_without_sampler_has_all_data_in_each_rank(told):
    assert of_ranks(told, "whole") == [[[0, 1, 2, 3, 4]]] * 2
    assert of_ranks(told, "stream") == [[[1]]] * 2


def test_processes_of_a_loader_work(told):
    assert sorted(flat(flat(of_ranks(told, "workers")))) == list(range(10))


def test_a_sampler_of_the_user_is_replaced_with_a_warning_in_one_rank(told):
    first, second = of_ranks(told, "warnings")
    assert "WeightedRandomSampler is replaced" in first[0]
    assert second == []


def test_a_batch_sampler_is_refused(told):
    assert "add_dist_sampler=False" in of_ranks(told, "refused")[0]


def test_a_model_is_wrapped_and_begins_with_the_parameters_of_rank_0(told):
    first, second = of_ranks(told, "model")
    assert first == second
    assert first[0] == "DistributedDataParallel"
    assert of_ranks(told, "plain") == ["Linear"] * 2


def test_gradients_are_means_over_ranks(told):
    assert of_ranks(told, "gradient") == [0.5, 0.5]


def test_alone_nothing_is_wrapped():
    model, loader = torch.nn.Linear(1, 1), DataLoader(TensorDataset(torch.zeros(2, 1)))
    assert train_torch.prepare_model(model) is model
    assert train_torch.prepare_data_loader(loader) is loader
    assert train_torch.get_device() == torch.device("cpu")
    assert train_torch.get_devices() == [torch.device("cpu")]


def test_a_sampler_of_the_user_stays_alone():
    sampler = WeightedRandomSampler([1.0, 1.0], 2)
    loader = DataLoader(TensorDataset(torch.zeros(2, 1)), sampler=sampler)
    assert train_torch.prepare_data_loader(loader).sampler is sampler


def test_unknown_strategies_are_refused():
    with pytest.raises(ArgumentError, match='must be "ddp", "fsdp" or None'):
        train_torch.prepare_model(torch.nn.Linear(1, 1), parallel_strategy="dp")


def test_mixed_precision_is_bfloat16_on_a_cpu():
    train_torch.accelerate(amp=True)
    try:
        model = train_torch.prepare_model(torch.nn.Linear(4, 1))
        seen = []
        model.register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
        optimizer = train_torch.prepare_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
        before = model.weight.detach().clone()
        loss = model(torch.ones(2, 4)).sum()
        train_torch.backward(loss)
        optimizer.step()
    finally:
        train_torch.accelerate(amp=False)
    assert loss.dtype == torch.float32
    assert not torch.equal(model.weight, before)


def test_seeds_repeat_a_training():
    def drawn():
        train_torch.enable_reproducibility(seed=3)
        return random.random(), float(torch.rand(1))

    try:
        assert drawn() == drawn()
    finally:
        torch.use_deterministic_algorithms(False)


def test_a_checkpoint_has_a_model():
    model = torch.nn.Linear(2, 1)
    wrapped = {f"module.{name}": value for name, value in model.state_dict().items()}
    saved = train_torch.TorchCheckpoint.from_state_dict(wrapped)
    loaded = saved.get_model(torch.nn.Linear(2, 1))
    assert torch.equal(loaded.weight, model.weight)
    with pytest.raises(ArgumentError, match="needs the model"):
        saved.get_model()
    whole = train_torch.TorchCheckpoint.from_model(model).get_model(weights_only=False)
    assert torch.equal(whole.weight, model.weight)


def test_all_tensors_of_a_batch_are_moved():
    Pair = namedtuple("Pair", ["first", "second"])
    batch = {"x": torch.zeros(2), "pairs": [Pair(torch.zeros(1), "text"), (torch.zeros(1), 3)]}
    there = moved(batch, torch.device("meta"))
    first, second = there["pairs"]
    assert {there["x"].device.type, first.first.device.type, second[0].device.type} == {"meta"}
    assert (type(first), first.second, second[1]) == (Pair, "text", 3)


def test_a_loader_that_moves_batches_is_a_loader():
    inner = DataLoader(TensorDataset(torch.arange(5.0)), batch_size=2)
    loader = MovedLoader(inner, torch.device("meta"), is_ahead=False)
    assert len(loader) == 3
    assert [batch[0].device.type for batch in loader] == ["meta"] * 3
    assert (loader.dataset, loader.sampler, loader.batch_size) == (inner.dataset, inner.sampler, 2)
    assert isinstance(loader, DataLoader)
