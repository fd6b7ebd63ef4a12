"""Loads the recorded learning curves of a data folder as tables: LCBench, TaskSet, LCDB, AlgoPerf.

    from curves import tables
    for task in tables(data, "lcbench"): tune.run(task.table, engine=Simulated(4), ...)

`python benchmarks/curves.py DATA` lists them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from overtone.curves import CurveTable

FAMILIES = ("lcbench", "taskset", "lcdb", "algoperf")


@dataclass(frozen=True)
class Task:
    """One problem.

    Attributes:
        family, name: Such as "lcbench" and "3945".
        table: Its curves.
        metric, mode: What to optimise.
        max_t: The longest curve, in iterations.
    """

    family: str
    name: str
    table: CurveTable
    metric: str
    mode: str
    max_t: int


def tables(data: Path, *families: str) -> Iterator[Task]:
    """The tasks of these families, or of all."""
    for family in families or FAMILIES:
        yield from {"lcbench": lcbench, "taskset": taskset, "lcdb": lcdb, "algoperf": algoperf}[family](
            Path(data) / "curves"
        )


def lcbench(folder: Path) -> Iterator[Task]:
    """Eight tasks, 500 configurations, 50 epochs: accuracies in percent."""
    file = np.load(folder / "lcbench.npz")
    names = [str(one) for one in file["hp_names"]]
    whole = {"batch_size", "max_units", "num_layers"}
    configs = [
        {name: int(one) if name in whole else float(one) for name, one in zip(names, row, strict=True)}
        for row in file["hp"]
    ]
    for k, name in enumerate(file["task_ids"]):
        metrics = {"val_acc": file["val_acc_x100"][k] / 100, "test_bacc": file["test_bacc_x100"][k] / 100}
        table = CurveTable(configs, metrics, file["elapsed_s"][k].astype(float), name=f"lcbench_{name}")
        yield Task("lcbench", str(name), table, "val_acc", "max", 50)


def taskset(folder: Path) -> Iterator[Task]:
    """Six tasks, 1,000 configurations of Adam, 51 checkpoints; the first is before training."""
    file = np.load(folder / "taskset.npz")
    names = [str(one) for one in file["hp_names"]]
    configs = [dict(zip(names, map(float, row), strict=True)) for row in file["hp"]]
    for name in map(str, file["task_names"]):
        metrics = {kind: file[f"{name}__{kind}"].astype(float) for kind in ("valid", "test")}
        n, length = metrics["valid"].shape
        # NaN is a run that diverged, and goes on
        table = CurveTable(configs, metrics, lengths=[length] * n, name=f"taskset_{name[-16:]}")
        yield Task("taskset", name, table, "valid", "min", length)


def lcdb(folder: Path) -> Iterator[Task]:
    """A task a data set: each row is a learner and a split, each iteration a larger training set."""
    file = np.load(folder / "lcdb.npz")
    valid, seconds = file["valid_x10000"], file["traintime_s"]
    for k, (number, name) in enumerate(zip(file["openml_id"], file["dataset"], strict=True)):
        configs, curves, elapsed = [], [], []
        for i, learner in enumerate(file["learner"]):
            for split in range(valid.shape[2]):
                there = (valid[k, i, split] != 65535) & np.isfinite(seconds[k, i, split])
                if there.any():
                    configs.append({"learner": str(learner), "split": split})
                    curves.append(list(valid[k, i, split][there] / 10000))
                    elapsed.append(list(np.cumsum(seconds[k, i, split][there], dtype=float)))
        if configs:
            table = CurveTable(configs, {"accuracy": curves}, elapsed, name=f"lcdb_{number}")
            yield Task("lcdb", str(name), table, "accuracy", "max", max(table.lengths))


def algoperf(folder: Path) -> Iterator[Task]:
    """A task a workload: training logs of different lengths, with wall clock."""
    for name, facts in json.loads((folder / "algoperf" / "index.json").read_text()).items():
        file = np.load(folder / "algoperf" / f"{name}.npz")
        configs = json.loads((folder / "algoperf" / f"{name}.configs.json").read_text())
        flat = [
            {**{k: v for k, v in one.items() if k != "hparams"}, **one.get("hparams", {})} for one in configs
        ]
        elapsed = np.maximum.accumulate(np.nan_to_num(file["elapsed_s"].astype(float)), axis=1)
        table = CurveTable(
            flat,
            {"score": file["metric"].astype(float)},
            elapsed,
            lengths=file["length"],
            name=f"algoperf_{name}",
        )
        yield Task("algoperf", name, table, "score", facts["mode"], int(file["length"].max()))


if __name__ == "__main__":
    for task in tables(Path(sys.argv[1])):
        best = task.table.best(task.metric, task.mode)
        rows = f"{len(task.table):5} rows, {task.max_t:3} iterations"
        print(f"{task.family:9} {task.name:40.40} {rows}, best {best:.4f}")
