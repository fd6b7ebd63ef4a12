"""A driver whose trial trains a network with one gloo rank, or with two on two hosts that share no disk.

Arguments: the folder for results, the number of ranks. After two epochs, and after four, two ranks wait until one
process of the gang is killed.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from overtone import tune

EPOCHS = 8


def lead(config: dict[str, Any]) -> None:
    """Make the ranks and a meeting point for them."""
    from torch.distributed import TCPStore

    from overtone.worker.gang.gang import Gang
    from overtone.worker.gang.trial_host import TrialHost
    from overtone.worker.gang.trial_reports import TrialReports
    from overtone.worker.session.current import current

    note_pid(f"head-{config['ranks']}")
    with Gang(TrialHost(current()), config["ranks"], timeout_s=300) as gang:
        store = TCPStore(gang.address, 0, is_master=True, wait_for_workers=False)
        gang.run(train, config, (gang.address, store.port), on_report=TrialReports(current()))


def train(config: dict[str, Any], meeting_point: tuple[str, int]) -> None:
    """Train; each rank keeps its part of the state."""
    import torch
    from torch import distributed

    torch.set_num_threads(1)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    note_pid(f"rank-{rank}-of-{size}")
    store = distributed.TCPStore(*meeting_point, is_master=False)
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=size)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    inputs = torch.randn(64, 4)
    targets = inputs.prod(1, keepdim=True)
    first = 0
    if (checkpoint := tune.get_checkpoint()) is not None:
        with checkpoint.as_directory() as folder:
            parts = [torch.load(file) for file in sorted(Path(folder).glob("part-*"))]
        assert len(parts) == size, "a checkpoint is whole or not at all"
        first = parts[0]["epoch"]
        for index, parameter in enumerate(model.parameters()):
            kept = parts[index % size][str(index)]
            parameter.data.copy_(kept["value"])
            optimizer.state[parameter]["momentum_buffer"] = kept["momentum"]
    for epoch in range(first + 1, EPOCHS + 1):
        while size == 2 and first < 4 and epoch == first + 3:
            time.sleep(0.1)
        for batch in torch.arange(64).split(16):
            own = batch[rank::size]
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(inputs[own]), targets[own]).backward()
            for parameter in model.parameters():
                distributed.all_reduce(parameter.grad)
                parameter.grad /= size
            optimizer.step()
        part: dict[str, Any] = {"epoch": epoch}
        for index, parameter in enumerate(model.parameters()):
            if index % size == rank:
                momentum = optimizer.state[parameter]["momentum_buffer"]
                part[str(index)] = {"value": parameter.data, "momentum": momentum}
        folder = Path(f"saved-{rank}-{epoch}")
        folder.mkdir(exist_ok=True)
        torch.save(part, folder / f"part-{rank}")
        values = torch.cat([one.data.flatten() for one in model.parameters()]).tolist()
        tune.report({"loss": 0.0, "values": values}, checkpoint=tune.Checkpoint.from_directory(folder))
    distributed.destroy_process_group()


def note_pid(name: str) -> None:
    """Write this process's pid to a file that its host alone sees."""
    folder = Path(os.environ["TMPDIR"], "pids")
    folder.mkdir(exist_ok=True)
    new = folder / f"{name}.new"
    new.write_text(str(os.getpid()))
    new.replace(folder / name)


if __name__ == "__main__":
    import ray

    ray.init(address="auto")
    tune.run(
        tune.with_resources(lead, tune.PlacementGroupFactory([{"here": 0.01}, {"CPU": 1}, {"CPU": 1}], strategy="SPREAD")),
        config={"ranks": int(sys.argv[2])}, metric="loss", mode="min",
        name=f"training-{sys.argv[2]}", storage_path=sys.argv[1], max_failures=3,
    )  # fmt: skip
