"""The `== Status ==` block of the article of 2021: 32 trials on a cluster, label by label."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from overtone.core.messages import Record
from overtone.core.table import TrialTable
from overtone.core.types import Why
from overtone.observers.display.reporters import CLIReporter
from overtone.observers.display.status_block import memory_line, resources_line
from overtone.observers.trial_view import Experiment, SeenTrial
from overtone.testing.scripted_records import Story

GOLDEN = Path(__file__).with_name("status_article.txt")
GIB = 2**30

# index: (address, pid, accuracy, iterations, seconds); stopped trials have no address any more
STOPPED = {1: (0.0594, 1, 8.50461), 2: (0.0722, 1, 8.65457), 5: (0.0767, 1, 8.26594)}
RUNNING = {
    0: ("89.72.32.13", 12113, 0.0829, 6, 50.2268),
    3: ("89.72.32.24", 283613, 0.1128, 6, 49.1289),
    4: ("89.72.32.55", 441696, 0.113, 4, 31.9356),
    6: ("89.72.32.18", 30118, 0.1174, 3, 23.9964),
}
CONFIGS = [
    (0.00874452, 0.652566), (0.000819226, 0.293562), (0.00035852, 0.701368), (0.00380314, 0.755093),
    (0.000573206, 0.531036), (0.00253235, 0.834568), (0.00032010745937302484, 0.3077716737703313),
    (0.000578684, 0.826577), (0.000104167, 0.841208), (0.00792254, 0.419486), (0.00238698, 0.496603),
    (0.00342996, 0.611557), (0.000662736, 0.379733), (0.000326747, 0.835042), (0.00234961, 0.761008),
    (0.00748315, 0.234968), (0.000121585, 0.806935), (0.00011588, 0.578034), (0.00218129, 0.663069),
    (0.000373483, 0.726266), *[(0.001, 0.5)] * 12,
]  # fmt: skip
SCHEDULER = (
    "Using AsyncHyperBand: num_stopped=3\n"
    "Bracket: Iter 64.000: None | Iter 16.000: None | Iter 4.000: 0.1129 | Iter 1.000: 0.1129"
)

# as the article prints it: its HTML made one space of many
ARTICLE = """\
== Status ==
Memory usage on this node: 19.0/250.9 GiB
Using AsyncHyperBand: num_stopped=3
Bracket: Iter 64.000: None | Iter 16.000: None | Iter 4.000: 0.1129 | Iter 1.000: 0.1129
Resources requested: 20.0/112 CPUs, 16.0/16 GPUs, 0.0/689.53 GiB heap, 0.0/299.5 GiB objects (0.0/4.0 accelerator_type:V100)
Current best trial: 358bb_00006 with mean_accuracy=0.1174 and parameters={'lr': 0.00032010745937302484, 'momentum': 0.3077716737703313}
Result logdir: /home/ray/ray_results/TorchTrainable_2021-05-26_11-41-09
Number of trials: 32/32 (25 PENDING, 4 RUNNING, 3 TERMINATED)
+----------------------------+------------+--------------------+-------------+------------+--------+--------+------------------+---------------+---------+---------------+
| Trial name | status | loc | lr | momentum | acc | iter | total time (s) | num_samples | epoch | batch_count |
|----------------------------+------------+--------------------+-------------+------------+--------+--------+------------------+---------------+---------+---------------|
| TorchTrainable_358bb_00000 | RUNNING | 89.72.32.13:12113 | 0.00874452 | 0.652566 | 0.0829 | 6 | 50.2268 | 10000 | 6 | 40 |
| TorchTrainable_358bb_00003 | RUNNING | 89.72.32.24:283613 | 0.00380314 | 0.755093 | 0.1128 | 6 | 49.1289 | 10000 | 6 | 40 |
| TorchTrainable_358bb_00004 | RUNNING | 89.72.32.55:441696 | 0.000573206 | 0.531036 | 0.113 | 4 | 31.9356 | 10000 | 4 | 40 |
| TorchTrainable_358bb_00006 | RUNNING | 89.72.32.18:30118 | 0.000320107 | 0.307772 | 0.1174 | 3 | 23.9964 | 10000 | 3 | 40 |
| TorchTrainable_358bb_00007 | PENDING | | 0.000578684 | 0.826577 | | | | | | |
| TorchTrainable_358bb_00008 | PENDING | | 0.000104167 | 0.841208 | | | | | | |
| TorchTrainable_358bb_00009 | PENDING | | 0.00792254 | 0.419486 | | | | | | |
| TorchTrainable_358bb_00010 | PENDING | | 0.00238698 | 0.496603 | | | | | | |
| TorchTrainable_358bb_00011 | PENDING | | 0.00342996 | 0.611557 | | | | | | |
| TorchTrainable_358bb_00012 | PENDING | | 0.000662736 | 0.379733 | | | | | | |
| TorchTrainable_358bb_00013 | PENDING | | 0.000326747 | 0.835042 | | | | | | |
| TorchTrainable_358bb_00014 | PENDING | | 0.00234961 | 0.761008 | | | | | | |
| TorchTrainable_358bb_00015 | PENDING | | 0.00748315 | 0.234968 | | | | | | |
| TorchTrainable_358bb_00016 | PENDING | | 0.000121585 | 0.806935 | | | | | | |
| TorchTrainable_358bb_00017 | PENDING | | 0.00011588 | 0.578034 | | | | | | |
| TorchTrainable_358bb_00018 | PENDING | | 0.00218129 | 0.663069 | | | | | | |
| TorchTrainable_358bb_00019 | PENDING | | 0.000373483 | 0.726266 | | | | | | |
| TorchTrainable_358bb_00001 | TERMINATED | | 0.000819226 | 0.293562 | 0.0594 | 1 | 8.50461 | 10000 | 1 | 40 |
| TorchTrainable_358bb_00002 | TERMINATED | | 0.00035852 | 0.701368 | 0.0722 | 1 | 8.65457 | 10000 | 1 | 40 |
| TorchTrainable_358bb_00005 | TERMINATED | | 0.00253235 | 0.834568 | 0.0767 | 1 | 8.26594 | 10000 | 1 | 40 |
+----------------------------+------------+--------------------+-------------+------------+--------+--------+------------------+---------------+---------+---------------+
... 12 more trials not shown (12 PENDING)"""


class Reporter(CLIReporter):
    """On the article's machine."""

    def _memory(self) -> list[str]:
        return [memory_line(19.0 * GIB, 250.9 * GIB)]


def told() -> list[Record]:
    """The article's experiment up to its status block."""
    story = Story()
    node = {
        "cpu": 28,
        "gpu": 4,
        "memory": 172.3825 * GIB,
        "object_store_memory": 74.875 * GIB,
        "accelerator_type:V100": 1,
    }
    story.capacity({address: node for address, *_ in RUNNING.values()})
    demand = {"cpu": 5, "gpu": 4}
    trials = [
        story.add({"lr": lr, "momentum": momentum, "use_gpu": True}, demand) for lr, momentum in CONFIGS
    ]

    def train(index: int, accuracy: float, iterations: int, seconds: float, why: Why | None) -> None:
        for epoch in range(1, iterations + 1):
            story.time += seconds / iterations
            metrics = {
                "num_samples": 10000,
                "epoch": epoch,
                "batch_count": 40,
                "val_loss": 2.3,
                "mean_accuracy": accuracy,
            }
            if why is not None:
                story.report_stopped(trials[index], why, **metrics)
            else:
                story.report(trials[index], **metrics)

    for index, (accuracy, iterations, seconds) in STOPPED.items():
        story.start(trials[index], "89.72.32.18", 1)
        train(index, accuracy, iterations, seconds, Why("asha", rung=1))
        story.end(trials[index], "halted", Why("asha", rung=1))
    for index, (address, pid, accuracy, iterations, seconds) in RUNNING.items():
        story.start(trials[index], address, pid)
        train(index, accuracy, iterations, seconds, None)
    return story.records


@pytest.fixture(scope="module")
def rendered() -> str:
    table = TrialTable()
    for record in told():
        table.apply(record)
    folder = "/home/ray/ray_results/TorchTrainable_2021-05-26_11-41-09"
    experiment = Experiment("TorchTrainable", folder, ["lr", "momentum"])
    reporter = Reporter()
    reporter.setup(total_samples=32, metric="mean_accuracy", mode="max", folder=folder)
    trials = [SeenTrial(row, experiment) for row in table.rows.values()]
    return reporter._progress_str(trials, False, SCHEDULER, resources_line(table.used, table.capacity))


def squeezed(text: str) -> list[str]:
    return [re.sub(" +", " ", line) for line in text.splitlines()]


def test_every_label_is_the_article_s(rendered: str) -> None:
    assert squeezed(rendered) == ARTICLE.splitlines()


def test_block_is_the_golden_one(rendered: str) -> None:
    assert rendered + "\n" == GOLDEN.read_text()


def test_all_lines_of_the_table_are_equally_wide(rendered: str) -> None:
    assert len({len(line) for line in rendered.splitlines() if line[0] in "+|"}) == 1
