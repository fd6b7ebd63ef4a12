"""A resume knows the same from a snapshot and the records after it as from all records."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from overtone import tune
from overtone.engines.inline import Inline
from overtone.run.resume.replay import Divergence, Resuming
from overtone.run.resume.snapshot import NAME, JournalMark, Snapshots
from overtone.run.resume.state_codec import frozen
from overtone.tune import schedulers

LONGEST = 9
SCHEDULERS: dict[str, Callable[[], object]] = {
    "fifo": schedulers.FIFOScheduler,
    "asha": lambda: schedulers.ASHAScheduler(max_t=LONGEST, grace_period=1, reduction_factor=3),
    "asha_promote": lambda: schedulers.ASHAScheduler(
        max_t=LONGEST, grace_period=1, reduction_factor=3, rule="promote"
    ),
    "asha_brackets": lambda: schedulers.ASHAScheduler(
        max_t=LONGEST, grace_period=1, reduction_factor=3, brackets=2
    ),
    "hyperband": lambda: schedulers.HyperBandScheduler(max_t=LONGEST, reduction_factor=3),
    "median": lambda: schedulers.MedianStoppingRule(
        time_attr="training_iteration", grace_period=2, min_samples_required=2
    ),
    "pbt": lambda: schedulers.PopulationBasedTraining(
        time_attr="training_iteration",
        perturbation_interval=3,
        hyperparam_mutations={"x": tune.uniform(0, 1)},
        log_config=False,
    ),
    "pasha": lambda: schedulers.PASHA(max_t=LONGEST, grace_period=1, reduction_factor=3),
    "auto": lambda: "auto",
}


class Weight(tune.Trainable):
    def setup(self, config):
        self.config = config
        self.t = 0

    def step(self):
        self.t += 1
        return {"score": self.config["x"] * (1 - 1 / (self.t + self.config["y"]))}

    def save_checkpoint(self, folder):
        Path(folder, "t.json").write_text(str(self.t))

    def load_checkpoint(self, folder):
        self.t = int(Path(folder, "t.json").read_text())


def run(folder: Path, make: Callable[[], object], resume: bool) -> tune.ExperimentAnalysis:
    return tune.run(
        Weight, config={"x": tune.uniform(0, 1), "y": tune.randint(1, 5)}, num_samples=6,
        metric="score", mode="max", scheduler=make(), engine=Inline(cpus=2), name=folder.name,
        storage_path=folder.parent, seed=7, verbose=0, tensorboard=False, resume=resume,
        stop={"training_iteration": LONGEST}, checkpoint_freq=1,
    )  # fmt: skip


class Known(BaseException):
    """Ends a run where all is known of what happened before."""


def known(
    folder: Path, make: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> tuple[JournalMark | None, dict]:
    """Where the replay of a resume began, and the state that it led to."""
    snapshots: list[tuple[Snapshots, JournalMark | None]] = []
    recall, replay = Snapshots.recall, Resuming.replay

    def noted(self: Snapshots) -> JournalMark | None:
        snapshots.append((self, recall(self)))
        return snapshots[-1][1]

    def replayed(self: Resuming, since: JournalMark | None = None) -> list[Divergence]:
        assert replay(self, since) == []
        raise Known

    with monkeypatch.context() as patched:
        patched.setattr(Snapshots, "recall", noted)
        patched.setattr(Resuming, "replay", replayed)
        with pytest.raises(Known):
            run(folder, make, resume=True)
    ((one, mark),) = snapshots
    return mark, frozen(one._known())


def same(a: dict, b: dict) -> None:
    """Fail where two states differ in anything but in what is shared within each."""
    nodes: tuple[list, list] = ([], [])

    def name(state: dict, tree: list) -> object:
        return state["classes"][tree[0]] if type(tree[0]) is int else tree[0]

    def number(tree: object, found: list) -> None:
        if (
            type(tree) is not list
            or tree[0] in ("k", "-", "n", "e")
            or (len(tree) == 1 and type(tree[0]) is int)
        ):
            return
        found.append(tree)
        for one in tree[1:]:
            number(one, found)

    for state, found in ((a, nodes[0]), (b, nodes[1])):
        number(state["tree"], found)
    seen: set[tuple[int, int]] = set()

    def compare(one: object, other: object, path: str) -> None:
        if type(one) is list and type(one[0]) is int and len(one) == 1:
            one = nodes[0][one[0]]
        if type(other) is list and type(other[0]) is int and len(other) == 1:
            other = nodes[1][other[0]]
        if type(one) is not list or type(other) is not list:
            assert one == other, path
            return
        if (id(one), id(other)) in seen:
            return
        seen.add((id(one), id(other)))
        assert name(a, one) == name(b, other), path
        assert len(one) == len(other), path
        for i, (x, y) in enumerate(zip(one[1:], other[1:], strict=True)):
            compare(x, y, f"{path}/{i}")

    compare(a["tree"], b["tree"], "")


@pytest.mark.parametrize("step", [9, pytest.param(3, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_snapshot_and_the_rest_lead_to_the_state_of_a_whole_replay(name, step, tmp_path, monkeypatch) -> None:
    make = SCHEDULERS[name]
    kept = tmp_path / "kept"
    kept.mkdir()

    def take_always(self: Snapshots) -> None:
        self.take()
        shutil.copy(self._file._path, kept / f"{self._journal.next_n - 1}.json")

    monkeypatch.setattr(Snapshots, "look", take_always)
    whole = tmp_path / "whole"
    run(whole, make, resume=False)
    monkeypatch.undo()
    lines = (whole / "journal.jsonl").read_bytes().splitlines(keepends=True)
    ends = sorted(int(one.stem) for one in kept.iterdir())
    assert len(ends) > 10
    for before, cut in list(pairwise(ends))[::step]:
        (whole / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
        (whole / NAME).unlink(missing_ok=True)
        mark, expected = known(whole, make, monkeypatch)
        assert mark is None
        for n in (before, cut):
            shutil.copy(kept / f"{n}.json", whole / NAME)
            mark, found = known(whole, make, monkeypatch)
            assert mark is not None
            assert mark.n == n
            same(found, expected)
