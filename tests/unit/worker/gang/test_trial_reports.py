"""Ranks of a trial: one result and one checkpoint a step, and orders that reach all of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.core.types import Checkpoint as Reference
from overtone.errors import TrialHalted
from overtone.testing.fake_channel import FakeChannel, halt, proceed, start
from overtone.testing.folder_store import FolderStore
from overtone.tune.session import get_context, should_checkpoint
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.gang import checkpoint_files
from overtone.worker.gang.gang import Gang
from overtone.worker.gang.trial_reports import TrialReports
from overtone.worker.protocol import Order, decode
from overtone.worker.session.current import activated
from overtone.worker.session.session import Session

MakeGang = Callable[..., Gang]


class Trial:
    """A trial in this process, with prepared orders, and its ranks.

    Attributes:
        results: The metrics of its results.
        saved: The files of each checkpoint, by name.
    """

    def __init__(self, session: Session, channel: FakeChannel, gang: Gang, store: Path) -> None:
        self.session, self.gang, self._channel, self._store = session, gang, channel, store

    def run(self, fn: Any, *args: Any, reduce: str = "") -> Any:
        return self.gang.run(fn, *args, on_report=TrialReports(self.session, reduce))

    @property
    def results(self) -> list[dict[str, Any]]:
        return [decode(sent[4]) for sent in self._channel.sent if sent[0] == "reported"]

    @property
    def kinds(self) -> list[str]:
        return self._channel.kinds

    @property
    def saved(self) -> list[dict[str, str]]:
        references = [sent[-1] for sent in self._channel.sent if sent[0] in ("reported", "saved")]
        return [self._files(one) for one in references if one is not None]

    def _files(self, reference: Reference) -> dict[str, str]:
        folder = Path(reference.uri.removeprefix("file://"))
        files = (file for file in sorted(folder.rglob("*")) if file.is_file())
        return {str(file.relative_to(folder)): file.read_text() for file in files if file.name[0] != "."}


MakeTrial = Callable[..., Trial]


@pytest.fixture
def make_trial(tmp_path: Path, make_gang: MakeGang) -> Iterator[MakeTrial]:
    """Makes a trial whose ranks run; `orders` answer its reports."""
    made = []

    def make(*orders: Order, num_workers: int = 2, **start_with: Any) -> Trial:
        channel = FakeChannel(orders)
        store = tmp_path / "store"
        job = Job(None, "train", tmp_path / "exp", store=FolderStore(store), checkpoint_freq=0)
        (tmp_path / "exp").mkdir(exist_ok=True)
        session = Session(channel, job, start(**start_with))
        made.append(activated(session))
        made[-1].__enter__()
        return Trial(session, channel, make_gang(num_workers), store)

    yield make
    for one in made:
        one.__exit__(None, None, None)


def rank() -> int:
    return get_context().get_world_rank()


def on_another_host() -> None:
    """Make this rank believe that it runs on another host than its head."""
    checkpoint_files.this_host = lambda: "elsewhere"


def save(folder: Path, **files: str) -> Path:
    """Write files; "__" in a name stands for "/", and a dot is left out."""
    for name, text in files.items():
        file = folder / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


# --- metrics and verdicts -----------------------------------------------------------------


def test_a_step_of_all_ranks_is_one_result(make_trial: MakeTrial) -> None:
    def train() -> None:
        for step in range(3):
            get_context().report(loss=step + rank())

    trial = make_trial(proceed(), proceed(), proceed())
    trial.run(train)
    assert [(one["training_iteration"], one["loss"]) for one in trial.results] == [(1, 0), (2, 1), (3, 2)]


def test_means_over_ranks(make_trial: MakeTrial) -> None:
    def train(reduce: str) -> None:
        get_context().report({"loss": rank()}, reduce=reduce)

    trial = make_trial(proceed(), proceed(), proceed())
    trial.run(train, "mean")
    trial.run(train, "", reduce="mean")
    trial.run(train, "")
    assert [one["loss"] for one in trial.results] == [0.5, 0.5, 0]


def test_a_new_config_reaches_all_ranks_at_the_same_step(make_trial: MakeTrial) -> None:
    def train() -> list[Any]:
        params = get_context().params
        seen = [params["lr"]]
        for _ in range(3):
            get_context().report(x=1)
            seen.append(params["lr"])
        return seen

    trial = make_trial(proceed(), proceed(config={"lr": 2}), proceed(), proceed(), config={"lr": 1})
    assert trial.run(train) == [[1, 1, 2, 2]] * 2
    assert trial.gang.call(lambda: get_context().params["lr"]) == [2, 2]


def test_a_halt_reaches_all_ranks_at_the_same_step(make_trial: MakeTrial, tmp_path: Path) -> None:
    def train() -> None:
        try:
            for step in range(10):
                (tmp_path / f"step of {rank()}").write_text(str(step))
                get_context().report(x=step)
        finally:
            (tmp_path / f"end of {rank()}").touch()

    trial = make_trial(proceed(), proceed(), halt())
    with pytest.raises(TrialHalted, match="told to end"):
        trial.run(train)
    assert [(tmp_path / f"step of {i}").read_text() for i in range(2)] == ["2", "2"]
    assert all((tmp_path / f"end of {i}").exists() for i in range(2))
    assert trial.gang.call(rank) == [0, 1]


def test_ranks_know_their_trial(make_trial: MakeTrial, tmp_path: Path) -> None:
    def facts() -> Any:
        trial = get_context()
        storage = trial.get_storage()
        return (
            trial.get_trial_id(), trial.get_trial_name(), trial.get_trial_dir(), trial.get_experiment_name(),
            trial.get_trial_seed(), dict(trial.params), storage.experiment_fs_path, trial.iteration,
            trial.get_world_size(), trial.get_local_rank(), trial.get_node_rank(), trial.get_checkpoint(),
        )  # fmt: skip

    trial = make_trial(config={"lr": 1})
    home = str(tmp_path / "exp" / "t")
    seed = trial.session.get_trial_seed()
    exp = str(tmp_path / "exp")
    assert trial.gang.call(facts) == [
        ("t", "train_t", home, "exp", seed, {"lr": 1}, exp, 0, 2, i, 0, None) for i in range(2)
    ]


# --- checkpoints --------------------------------------------------------------------------


@pytest.mark.parametrize("remote", [(), (1,), (0, 1)], ids=["one host", "one elsewhere", "all elsewhere"])
def test_files_of_all_ranks_are_one_checkpoint(
    make_trial: MakeTrial, tmp_path: Path, remote: tuple[int, ...]
) -> None:
    def train() -> None:
        if rank() in remote:
            on_another_host()
        mine = save(tmp_path / f"rank {rank()}", **{f"shards__{rank()}": "x" * (5 << 18), "common": "same"})
        get_context().report(loss=1, checkpoint=Checkpoint.from_directory(mine))
        get_context().report(loss=2)

    trial = make_trial(proceed(), proceed())
    trial.run(train)
    assert trial.saved == [{"shards/0": "x" * (5 << 18), "shards/1": "x" * (5 << 18), "common": "same"}]
    assert sorted(one.name for one in (tmp_path / "exp" / "t").iterdir()) == []


@pytest.mark.parametrize("is_remote", [False, True])
def test_one_rank_may_bring_the_whole_checkpoint(
    make_trial: MakeTrial, tmp_path: Path, is_remote: bool
) -> None:
    def train() -> None:
        if is_remote:
            on_another_host()
        mine = save(tmp_path / "mine", model="weights") if rank() == 1 else None
        get_context().report(loss=1, checkpoint=mine)
        get_context().report(loss=1, checkpoint=mine / "model" if mine else None)

    trial = make_trial(proceed(), proceed())
    trial.run(train)
    assert trial.saved == [{"model": "weights"}] * 2


def test_of_different_files_of_one_name_rank_0s_is_kept(
    make_trial: MakeTrial, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_files, "_is_difference_told", False)

    def train() -> None:
        mine = save(tmp_path / f"rank {rank()}", model=f"of {rank()}", same="same")
        for _ in range(2):
            get_context().report(loss=1, checkpoint=mine)

    trial = make_trial(proceed(), proceed(), num_workers=3)
    trial.run(train)
    assert trial.saved == [{"model": "of 0", "same": "same"}] * 2
    assert capsys.readouterr().err.count("ranks 0 and 1 have saved different files 'model'") == 1


def test_a_rank_that_dies_as_it_sends_its_files_leaves_nothing(make_trial: MakeTrial, tmp_path: Path) -> None:
    def train() -> None:
        on_another_host()
        mine = save(tmp_path / f"rank {rank()}", first="1", second="2")
        if rank() == 1:
            from overtone.worker.gang import rank_session

            def cut_short(path: Path) -> Iterator[Any]:
                yield from list(checkpoint_files.file_messages(path))[:2]
                os.kill(os.getpid(), signal.SIGKILL)

            rank_session.file_messages = cut_short
        get_context().report(loss=1, checkpoint=mine)

    trial = make_trial()
    with pytest.raises(Exception, match="rank 1 of 2"):
        trial.run(train)
    assert (trial.results, trial.saved) == ([], [])
    assert not list((tmp_path / "exp").rglob("*saving*"))


def test_a_checkpoint_that_is_not_there_is_an_error_of_the_rank(make_trial: MakeTrial) -> None:
    def train() -> None:
        get_context().report(loss=1, checkpoint="/no/such/folder")

    with pytest.raises(Exception, match="a checkpoint must be a file or directory that exists"):
        make_trial().run(train)


def test_directories_that_the_session_makes(make_trial: MakeTrial) -> None:
    def train() -> Any:
        context = get_context()
        with context.checkpoint_dir(step=1) as folder:
            save(Path(folder), **{f"shard{rank()}": "1"})
        context.report(loss=1)
        made = context.make_checkpoint_dir()
        save(Path(made), **{f"shard{rank()}": "2", "unused": "3"})
        context.save_checkpoint(f"{made}/shard{rank()}")
        context.report(loss=2)
        context.report(loss=3)
        return [os.path.exists(one) for one in (folder, made)]

    trial = make_trial(proceed(), proceed(), proceed())
    assert trial.run(train) == [[False, False]] * 2
    assert trial.saved == [{"shard0": "1", "shard1": "1"}, {"shard0": "2", "shard1": "2"}]


@pytest.mark.parametrize("is_remote", [False, True])
@pytest.mark.parametrize("is_file", [False, True])
def test_ranks_restore_from_the_trials_checkpoint(
    make_trial: MakeTrial, tmp_path: Path, is_remote: bool, is_file: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # where fetched files are

    def train() -> Any:
        if is_remote:
            on_another_host()
        context = get_context()
        checkpoint = context.get_checkpoint()
        files = {one.name: one.read_text() for one in Path(checkpoint.path).iterdir() if one.name[0] != "."}
        path = Path(context.checkpoint)
        context.report(loss=1)
        return files, path.name if is_file else path == Path(checkpoint.path), checkpoint.path

    saved = save(tmp_path / "saved", model="x" * (5 << 18))
    trial = make_trial(proceed())
    trial.gang.checkpoint = saved / "model" if is_file else saved
    found = trial.run(train)
    assert [one[:2] for one in found] == [({"model": "x" * (5 << 18)}, "model" if is_file else True)] * 2
    where = {one[2] for one in found}
    assert len(where) == 1, "each host fetches once"
    assert (where == {str(saved)}) is not is_remote


# --- requests to save ---------------------------------------------------------------------


def train_cooperatively(tmp_path: Path) -> list[int]:
    """Report 5 times, and save where asked; return the steps of saves."""
    steps = []
    for step in range(5):
        (tmp_path / f"step of {rank()}").write_text(str(step))
        get_context().report(step=step)
        if should_checkpoint():
            steps.append(step)
            get_context().record_checkpoint(
                save(tmp_path / f"rank {rank()}", **{f"shard{rank()}": str(step)})
            )
    return steps


def test_ranks_save_together_when_asked(make_trial: MakeTrial, tmp_path: Path) -> None:
    orders = [proceed(), proceed(), proceed(save=True), proceed(), proceed()]
    trial = make_trial(*orders)
    assert trial.run(train_cooperatively, tmp_path) == [[2], [2]]
    assert trial.saved == [{"shard0": "2", "shard1": "2"}]


def test_a_pause_lets_all_ranks_save_and_ends_them(make_trial: MakeTrial, tmp_path: Path) -> None:
    trial = make_trial(proceed(), halt(save=True, park=True))
    with pytest.raises(TrialHalted, match="it has saved"):
        trial.run(train_cooperatively, tmp_path)
    assert trial.saved == [{"shard0": "1", "shard1": "1"}]
    assert [(tmp_path / f"step of {i}").read_text() for i in range(2)] == ["1", "1"]
    assert trial.gang.call(rank) == [0, 1]


def test_ranks_that_cannot_save_are_paused_where_they_wait(make_trial: MakeTrial) -> None:
    def train() -> int:
        for _ in range(3):
            get_context().report(x=1)
        return int(get_context().iteration)

    trial = make_trial(proceed(), halt(save=True, park=True), proceed(), proceed())
    assert trial.run(train) == [3, 3]
    assert trial.kinds == ["reported", "reported", "save_failed", "reported"]


def test_ranks_that_mix_saves_and_reports_are_named(make_trial: MakeTrial, tmp_path: Path) -> None:
    def train() -> None:
        mine = save(tmp_path / f"rank {rank()}", model="x")
        if rank() == 0:
            get_context().report(loss=1)
        else:
            get_context().record_checkpoint(mine)

    with pytest.raises(Exception, match=r"rank 1 of 2 waits in record_checkpoint\(\) while rank 0 waits in"):
        make_trial().run(train)


@pytest.mark.parametrize("of_rank", [0, 1])
def test_a_notice_to_one_rank_halts_all_at_the_same_step(
    make_trial: MakeTrial, tmp_path: Path, of_rank: int
) -> None:
    def train() -> None:
        for step in range(4):
            (tmp_path / f"step of {rank()}").write_text(str(step))
            if step == 2 and rank() == of_rank:
                get_context().notice.give()
            get_context().report(step=step, checkpoint=save(tmp_path / f"rank {rank()}", model="x"))

    trial = make_trial(*[proceed()] * 4)
    with pytest.raises(TrialHalted, match="told to end"):
        trial.run(train)
    assert len(trial.results) == 3
    assert [(tmp_path / f"step of {i}").read_text() for i in range(2)] == ["2", "2"]
    assert trial.session.notice.is_given
