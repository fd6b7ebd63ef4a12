"""What sharing GPUs by memory saves: 40 trials of 1.5 to 3 GB on one GPU of 8 GB, beside one a GPU.

    python benchmarks/gpu_packing.py clock        on a virtual clock: 20 draws of the trials, in a second
    python benchmarks/gpu_packing.py processes    real processes that sleep, with a GPU that exists in files
    python benchmarks/gpu_packing.py torch        12 small trainings on a real GPU: needs PyTorch and CUDA

"given" reserves what each trial needs, "most" 3 GB for each, "auto" estimates one amount for all, "by size"
one for each of four sizes, and "too little" reserves 1 GB, so that each trial runs out of memory.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

SIZES = (1.5, 2.0, 2.5, 3.0)
N_TRIALS = 40
N_DRAWS = 20
GPU = 8.0
LENGTH_S = 60.0

WAYS: dict[str, Any] = {
    "one a GPU": {"gpu": 1},
    "given": lambda config: {"gpu_memory": f"{config['need']}GB"},
    "most": {"gpu_memory": "3GB"},
    "auto": {"gpu_memory": "auto"},
    "by size": {"gpu_memory": "auto:need"},
    "too little": {"gpu_memory": "1GB"},
}


def trials(draw: int, length_s: float = LENGTH_S) -> list[dict[str, float]]:
    """The configs of a draw: what each trial needs in GB, and its length, the same up to a fifth."""
    rng = random.Random(draw)
    return [{"need": rng.choice(SIZES), "length": length_s * rng.uniform(0.8, 1.2)} for _ in range(N_TRIALS)]


def by_clock() -> None:
    """Print the time of each way over that of one trial a GPU, and how often trials ran out of memory."""
    from overtone.testing.packed_gpus import PackedGpus

    alone: dict[int, float] = {}
    print(f"{'':12}{'time':>12}{'worst':>8}{'at once':>9}{'retries':>9}{'most':>6}")
    for name, written in WAYS.items():
        ratios, at_once, excesses, most = [], 0, 0, 0
        for draw in range(N_DRAWS):
            gpus = PackedGpus([GPU], written, trials(draw))
            took = gpus.run()
            alone.setdefault(draw, took)
            ratios.append(took / alone[draw])
            at_once = max(at_once, gpus.most_at_once)
            excesses += sum(gpus.excesses.values())
            most = max(most, *gpus.excesses.values(), 0)
        print(
            f"{name:12}{statistics.median(ratios):12.2f}{max(ratios):8.2f}{at_once:9}"
            f"{excesses / N_DRAWS:9.1f}{most:6}"
        )


def with_cpu(written: Any) -> Any:
    """The resources with a tenth of a CPU: trials that sleep need no more."""
    if callable(written):
        return lambda config: {"cpu": 0.1, **written(config)}
    return {"cpu": 0.1, **written}


def by_processes(length_s: float) -> None:
    """Print the time of each way with real processes, over that of one trial a GPU."""
    from overtone import tune
    from overtone.engines.local import Local
    from overtone.testing.fake_gpus import FakeGpus

    alone = 0.0
    configs = trials(0, length_s)
    print(f"{'':12}{'seconds':>12}{'time':>8}{'failed':>9}")
    for name in ("one a GPU", "given", "by size", "auto"):
        written = WAYS[name]
        with tempfile.TemporaryDirectory() as folder:
            gpus = FakeGpus(Path(folder, "gpus"), [GPU * 1e9])

            def train(config: dict[str, float], gpus: FakeGpus = gpus) -> None:
                gpus.allocate(0, config["need"] * 1e9)
                time.sleep(config["length"])
                tune.report({"x": 1})

            with gpus.installed():
                began = time.monotonic()
                found = tune.run(
                    train,
                    config=configs,
                    resources_per_trial=with_cpu(written),
                    storage_path=folder,
                    verbose=0,
                    raise_on_failed_trial=False,
                    engine=Local(cpus=8, gpus=1, gpu_memory=f"{GPU}GB"),
                )
                took = time.monotonic() - began
                failed = sum(one.status != "TERMINATED" for one in found.trials)
        alone = alone or took
        print(f"{name:12}{took:12.1f}{took / alone:8.2f}{failed:9}", flush=True)


def by_torch() -> None:
    """Print results a second of 12 small trainings on a real GPU, one a GPU and shared by memory."""
    from overtone import tune

    def train(config: dict[str, Any]) -> None:
        import torch

        torch.manual_seed(config["seed"])
        width = config["width"]
        layers = [torch.nn.Linear(width, width) for _ in range(4)]
        model = torch.nn.Sequential(*layers).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        for _ in range(20):
            for _ in range(150):
                data = torch.randn(64, width).cuda()
                loss = (model(data) - data).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            tune.report({"loss": float(loss.item())})

    rates = []
    for name, written in (("one a GPU", {"gpu": 1}), ("auto", {"gpu_memory": "auto"})):
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            found = tune.run(
                train,
                config=[{"seed": seed, "width": (512, 1024)[seed % 2]} for seed in range(12)],
                resources_per_trial={"cpu": 1, **written},
                storage_path=folder,
                verbose=1,
                raise_on_failed_trial=False,
            )
            took = time.monotonic() - began
            failed = sum(one.status != "TERMINATED" for one in found.trials)
        rates.append(12 * 20 / took)
        print(f"{name}: {took:.1f} s, {rates[-1]:.1f} results/s, {rates[-1] / rates[0]:.2f}, {failed} failed")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("how", choices=("clock", "processes", "torch"))
    parser.add_argument("--length", type=float, default=1.0, help="seconds of a trial, with processes")
    asked = parser.parse_args()
    if asked.how == "clock":
        by_clock()
    elif asked.how == "processes":
        by_processes(asked.length)
    else:
        by_torch()


if __name__ == "__main__":
    main()
