"""What a session sends, when it waits, and how each order ends."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overtone.core.job import Job
from overtone.core.messages import Halt, Proceed
from overtone.core.types import Checkpoint as Reference
from overtone.errors import NoRoomError, StorageError, TrainableError, TrialHalted
from overtone.testing.fake_channel import FakeChannel, halt, proceed, start
from overtone.testing.folder_store import FolderStore
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.protocol import Order, decode
from overtone.worker.session.session import Session


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., tuple[Session, FakeChannel]]:
    def session(
        *orders: Order, options: Any = (), clock: Any = None, **start_with: Any
    ) -> tuple[Session, FakeChannel]:
        channel = FakeChannel(orders)
        job = Job(None, "train", tmp_path / "exp", store=FolderStore(tmp_path / "store"), **dict(options))
        return Session(channel, job, start(**start_with), clock or Clock()), channel

    return session


Make = Callable[..., tuple[Session, FakeChannel]]


def files(where: Path) -> set[str]:
    return {path.name for path in where.iterdir()}


# --- reports ------------------------------------------------------------------------------


def test_a_report_carries_the_metrics_and_the_sessions_fields(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    session.report({"loss": np.float32(0.5), "note": "x"})
    ((kind, trial_id, attempt, t, raw, checkpoint),) = channel.sent
    assert (kind, trial_id, attempt, t, checkpoint) == ("reported", "t", 0, 1, None)
    metrics = decode(raw)
    assert (metrics.pop("timestamp") > 0, len(metrics.pop("date"))) == (True, 19)
    assert metrics == {
        "loss": 0.5, "note": "x", "training_iteration": 1, "time_this_iter_s": 0.0, "time_total_s": 0.0,
        "timesteps_total": None, "iterations_since_restore": 1, "time_since_restore": 0.0, "done": False,
    }  # fmt: skip


def test_a_report_that_is_done_ends_the_trial(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    session.report(a=1, done=0)
    with pytest.raises(TrialHalted, match="it reported that it is done"):
        session.report(a=2, done=1)
    assert session.is_done
    assert [decode(sent[4])["done"] for sent in channel.sent] == [False, True]


def test_nan_is_tagged_in_the_text(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    session.report(loss=float("nan"))
    assert '"loss":{"__float__":"nan"}' in channel.sent[0][4]


def test_the_wait_in_report_is_not_time_of_the_trial(make: Make) -> None:
    clock = Clock()
    session, channel = make(proceed(), proceed(), clock=clock)

    def wait() -> None:
        clock.now += 100

    channel.on_wait = wait
    clock.now += 2
    session.report(a=1)
    clock.now += 3
    session.report(a=1)
    spent = [
        (one["time_this_iter_s"], one["time_total_s"]) for one in (decode(sent[4]) for sent in channel.sent)
    ]
    assert spent == [(2, 2), (3, 5)]


def test_timesteps_are_added_up(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    session.report(timesteps_this_iter=5)
    session.report(timesteps_this_iter=np.int64(6))
    session.report(timesteps_total=100)
    session.report(a=1)
    assert [decode(sent[4])["timesteps_total"] for sent in channel.sent] == [5, 11, 100, 100]


def test_reports_before_until_t_do_not_wait(make: Make) -> None:
    session, channel = make(proceed(until_t=5), until_t=3)
    waits: list[int] = []
    channel.on_wait = lambda: waits.append(session.iteration)
    for _ in range(4):
        session.report(a=1)
    assert waits == [3]


def test_orders_for_others_are_passed_over(make: Make) -> None:
    session, channel = make(Halt("another", 0), Halt("t", 1), Proceed("t", 0, 0.0))
    session.report(a=1)
    assert (channel.kinds, session.is_active) == (["reported"], True)


def test_an_order_that_came_before_the_report_does_not_answer_it(make: Make) -> None:
    session, channel = make(proceed(until_t=9))
    channel.early.append(proceed(until_t=0))
    session.report(a=1)
    assert not channel.orders


def test_params_change_in_place(make: Make) -> None:
    session, _ = make(proceed(config={"lr": 0.5}), config={"lr": 0.1, "old": 1})
    params = session.params
    session.report(a=1)
    assert params == {"lr": 0.5}


def test_a_report_from_another_process_is_an_error(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    session, _ = make()
    monkeypatch.setattr(os, "getpid", lambda: 1)
    with pytest.raises(TrainableError, match="in process 1"):
        session.report(a=1)


def test_threads_of_a_trial_may_report(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    threads = [threading.Thread(target=session.report, args=({"a": 1},)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sent[3] for sent in channel.sent] == list(range(1, 9))


# --- halts --------------------------------------------------------------------------------


def test_a_halt_raises_now_and_at_each_further_report(make: Make) -> None:
    session, channel = make(halt())
    for _ in range(3):
        with pytest.raises(TrialHalted):
            session.report(a=1)
    assert (channel.kinds, session.n_ignored, session.is_active) == (["reported"], 2, False)


def test_exceptions_do_not_catch_it() -> None:
    assert not issubclass(TrialHalted, Exception)


def test_a_trial_that_runs_ahead_hears_of_its_halt(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    session.report(a=1)
    channel.early.append(halt())
    with pytest.raises(TrialHalted):
        session.report(a=2)
    assert channel.kinds == ["reported", "reported"]


@pytest.mark.parametrize("orders", [(None,), ()])
def test_a_shutdown_or_a_lost_driver_halts(make: Make, orders: tuple[Order, ...]) -> None:
    session, _ = make(*orders)
    with pytest.raises(TrialHalted):
        session.report(a=1)
    assert session.is_halted


def test_a_function_that_cannot_save_just_halts(make: Make) -> None:
    session, channel = make(halt(save=True))
    with pytest.raises(TrialHalted):
        session.report(a=1)
    assert channel.kinds == ["reported"]


def test_or_waits_where_it_will_be_wanted_again(make: Make) -> None:
    session, channel = make(halt(save=True, park=True), proceed())
    session.report(a=1)
    assert channel.kinds == ["reported", "save_failed"]
    assert session.is_active


def test_a_parked_trial_can_be_halted(make: Make) -> None:
    session, _ = make(halt(save=True, park=True), halt())
    with pytest.raises(TrialHalted):
        session.report(a=1)


# --- checkpoints of functions -------------------------------------------------------------


def test_a_checkpoint_goes_with_its_report_and_is_restored(make: Make, tmp_path: Path) -> None:
    clock = Clock()
    session, channel = make(until_t=math.inf, clock=clock)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "model.txt").write_text("7")
    clock.now = 4.0
    session.report({"timesteps_total": 9}, checkpoint=Checkpoint.from_directory(mine))
    kept = channel.sent[0][5]
    size = sum(file.stat().st_size for file in Path(kept.uri).iterdir())
    assert kept == Reference("t", 1, str(tmp_path / "store/t/checkpoint_000001"), size)
    assert files(mine) == {"model.txt"}

    again, channel = make(until_t=math.inf, checkpoint=kept)
    restored = again.get_checkpoint()
    assert restored is not None
    assert Path(restored.path, "model.txt").read_text() == "7"
    assert again.checkpoint == restored.path
    again.report(a=1)
    metrics = decode(channel.sent[0][4])
    assert metrics["training_iteration"] == 2
    assert (metrics["time_total_s"], metrics["timesteps_total"]) == (4.0, 9)
    assert (metrics["iterations_since_restore"], metrics["time_since_restore"]) == (1, 0.0)


def test_a_trial_begins_without_a_checkpoint(make: Make) -> None:
    session, _ = make()
    assert (session.checkpoint, session.get_checkpoint(), session.saved_state) == (None, None, None)


def test_a_halt_with_save_needs_no_more_than_the_reports_checkpoint(make: Make, tmp_path: Path) -> None:
    session, channel = make(halt(save=True, park=True))
    (tmp_path / "mine").mkdir()
    with pytest.raises(TrialHalted):
        session.report({"a": 1}, checkpoint=tmp_path / "mine")
    assert channel.kinds == ["reported"]


def test_nor_than_one_recorded_just_before(make: Make, tmp_path: Path) -> None:
    session, channel = make(halt(save=True, park=True))
    (tmp_path / "mine").mkdir()
    session.record_checkpoint(tmp_path / "mine")
    with pytest.raises(TrialHalted):
        session.report(a=1)
    assert channel.kinds == ["saved", "reported"]


def test_an_older_one_does_not_count(make: Make, tmp_path: Path) -> None:
    session, channel = make(proceed(), halt(save=True, park=True), halt())
    (tmp_path / "mine").mkdir()
    session.report({"a": 1}, checkpoint=tmp_path / "mine")
    with pytest.raises(TrialHalted):
        session.report(a=1)
    assert channel.kinds == ["reported", "reported", "save_failed"]


def test_a_cooperative_trial_is_let_go_until_it_recorded(make: Make, tmp_path: Path) -> None:
    session, channel = make(halt(save=True))
    file = tmp_path / "model.txt"
    file.write_text("7")
    assert not session.should_checkpoint()
    session.report(a=1)
    assert session.should_checkpoint()
    with pytest.raises(TrialHalted):
        session.record_checkpoint(file)
    assert channel.kinds == ["reported", "saved"]
    kept = channel.sent[1][3]
    assert kept.t == 1

    clone, _ = make(checkpoint=kept)
    assert clone.checkpoint is not None
    assert Path(clone.checkpoint).name == "model.txt"
    assert Path(clone.checkpoint).read_text() == "7"


def test_or_until_its_next_report_which_is_not_sent(make: Make) -> None:
    session, channel = make(halt(save=True))
    session.should_checkpoint()
    session.report(a=1)
    with pytest.raises(TrialHalted):
        session.report(a=2)
    assert channel.kinds == ["reported"]


def test_unless_that_one_carries_the_checkpoint(make: Make, tmp_path: Path) -> None:
    session, channel = make(halt(save=True))
    (tmp_path / "mine").mkdir()
    session.should_checkpoint()
    session.report(a=1)
    with pytest.raises(TrialHalted):
        session.report({"a": 2}, checkpoint=tmp_path / "mine")
    assert channel.kinds == ["reported", "reported"]
    assert channel.sent[1][5].t == 2


def test_a_save_is_asked_for_until_it_was_done(make: Make, tmp_path: Path) -> None:
    session, _ = make(proceed(save=True), proceed())
    (tmp_path / "mine").mkdir()
    session.report(a=1)
    assert session.should_checkpoint()
    session.report(a=2)
    assert session.should_checkpoint()
    session.record_checkpoint(tmp_path / "mine")
    assert not session.should_checkpoint()


def test_should_checkpoint_follows_checkpoint_freq(make: Make, tmp_path: Path) -> None:
    session, _ = make(until_t=math.inf, options={"checkpoint_freq": 2})
    (tmp_path / "mine").mkdir()
    due = []
    for _ in range(4):
        session.report(a=1)
        due.append(session.should_checkpoint())
        if due[-1]:
            session.record_checkpoint(tmp_path / "mine")
            assert not session.should_checkpoint()
    assert due == [False, True, False, True]


def test_should_checkpoint_saves_by_itself_so_often_that_it_costs_little(make: Make, tmp_path: Path) -> None:
    clock = Clock()
    session, channel = make(until_t=math.inf, clock=clock)
    (tmp_path / "mine").mkdir()
    due = []
    for _ in range(35):
        clock.now += 1
        session.report(a=1)
        if session.should_checkpoint():
            assert session.should_checkpoint(), "until it was done"
            due.append(clock.now)
            clock.now += 1  # what the function itself takes to save
            session.record_checkpoint(tmp_path / "mine")
            assert not session.should_checkpoint()
    assert due == [10, 30]
    saved = [sent[3] for sent in channel.sent if sent[0] == "saved"]
    assert [(one.t, one.is_automatic) for one in saved] == [(10, True), (29, True)]


def test_checkpoint_freq_0_asks_for_nothing(make: Make) -> None:
    clock = Clock()
    session, _ = make(until_t=math.inf, clock=clock, options={"checkpoint_freq": 0})
    session.report(a=1)
    clock.now += 1_000
    assert not session.should_checkpoint()


def test_what_waits_for_the_next_report_is_not_asked_for_again(make: Make) -> None:
    clock = Clock()
    session, channel = make(until_t=math.inf, clock=clock)
    session.report(a=1)
    clock.now += 10
    assert session.should_checkpoint()
    with session.checkpoint_dir(step=1):
        clock.now += 2
    assert not session.should_checkpoint()
    clock.now += 30
    session.report(a=1)
    assert channel.sent[-1][5].t == 2
    clock.now += 37
    assert not session.should_checkpoint()
    clock.now += 1
    session.report(a=1)
    assert session.should_checkpoint(), "38 s pay for the 2 s that it took"


def test_each_checkpoint_has_its_own_place(make: Make, tmp_path: Path) -> None:
    session, channel = make(until_t=math.inf)
    (tmp_path / "mine").mkdir()
    session.report({"a": 1}, checkpoint=tmp_path / "mine")
    session.record_checkpoint(tmp_path / "mine")
    session.record_checkpoint(tmp_path / "mine")
    places = [Path(channel.sent[0][5].uri).name, *(Path(sent[3].uri).name for sent in channel.sent[1:])]
    assert places == ["checkpoint_000001", "checkpoint_000001_2", "checkpoint_000001_3"]
    again, channel = make(until_t=math.inf, attempt=2)
    again.report({"a": 1}, checkpoint=tmp_path / "mine")
    assert Path(channel.sent[0][5].uri).name == "checkpoint_000001_a3"


def test_checkpoint_dir_goes_with_the_next_report(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    with session.checkpoint_dir(step=5) as folder:
        Path(folder, "model.txt").write_text("7")
    assert channel.kinds == []
    session.report(a=1)
    session.report(a=2)
    first, second = (sent[5] for sent in channel.sent)
    assert files(Path(first.uri)) == {"model.txt", ".overtone.json"}
    assert second is None
    assert files(Path(session.get_trial_dir())) == set()


def test_what_no_report_carried_is_kept_at_the_end(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    session.report(a=1)
    with session.checkpoint_dir(step=2) as folder:
        Path(folder, "model.txt").write_text("7")
    session.finish()
    assert channel.kinds == ["reported", "saved"]


def test_a_failed_checkpoint_dir_leaves_nothing(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    with pytest.raises(RuntimeError), session.checkpoint_dir(step=1):
        raise RuntimeError
    session.report(a=1)
    assert channel.sent[0][5] is None
    assert files(Path(session.get_trial_dir())) == set()


def test_a_read_only_directory_can_be_recorded(make: Make, tmp_path: Path) -> None:
    session, channel = make()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "model.txt").write_text("7")
    mine.chmod(0o555)
    session.record_checkpoint(mine)
    mine.chmod(0o755)
    assert files(mine) == {"model.txt"}
    assert files(Path(channel.sent[0][3].uri)) == {"model.txt", ".overtone.json"}


def test_a_restored_checkpoint_can_be_reported_again(make: Make, tmp_path: Path) -> None:
    session, channel = make(until_t=math.inf)
    (tmp_path / "mine").mkdir()
    session.report({"a": 1}, checkpoint=tmp_path / "mine")
    first = channel.sent[0][5]
    before = Path(first.uri, ".overtone.json").read_text()
    session.report({"a": 1}, checkpoint=first.uri)
    assert Path(first.uri, ".overtone.json").read_text() == before
    assert json.loads(Path(channel.sent[1][5].uri, ".overtone.json").read_text())["t"] == 2


def test_a_checkpoint_that_is_not_there_is_an_error(make: Make, tmp_path: Path) -> None:
    session, _ = make()
    with pytest.raises(TrainableError, match="nowhere"):
        session.record_checkpoint(tmp_path / "nowhere")


def test_a_metric_may_be_called_checkpoint(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    session.report(checkpoint=3, loss=1)
    assert json.loads(channel.sent[0][4])["checkpoint"] == 3


def test_a_job_without_a_store_says_so(tmp_path: Path) -> None:
    session = Session(FakeChannel(), Job(None, "train", tmp_path), start())
    with pytest.raises(StorageError, match="no store"):
        session.record_checkpoint(tmp_path)


# --- savers, as the class API has them ----------------------------------------------------


def saver(folder: Path) -> dict[str, str]:
    (folder / "state").write_text("7")
    return {"kind": "directory"}


def test_a_saver_saves_when_it_is_told(make: Make) -> None:
    session, channel = make(proceed(save=True), halt(save=True))
    session.saver = saver
    session.report(a=1)
    with pytest.raises(TrialHalted):
        session.report(a=2)
    assert channel.kinds == ["reported", "saved", "reported", "saved"]
    assert [sent[3].t for sent in channel.sent if sent[0] == "saved"] == [1, 2]


def test_an_early_order_to_save_is_carried_out_after_the_report(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    session.saver = saver
    channel.early.append(proceed(until_t=math.inf, save=True))
    session.report(a=1)
    assert channel.kinds == ["reported", "saved"]
    assert channel.sent[1][3].t == 1


def test_a_state_that_came_with_the_report_is_not_saved_twice(make: Make) -> None:
    session, channel = make(halt(save=True))
    session.saver = saver
    with pytest.raises(TrialHalted):
        session.report_with_state({"a": 1})
    assert channel.kinds == ["reported"]
    assert channel.sent[0][5].t == 1


def test_checkpoint_at_end_saves_at_any_halt(make: Make) -> None:
    session, channel = make(halt(), options={"checkpoint_at_end": True})
    session.saver = saver
    with pytest.raises(TrialHalted):
        session.report(a=1)
    assert channel.kinds == ["reported", "saved"]


def test_a_failed_save_is_told_and_the_trial_waits_where_it_is_wanted(make: Make) -> None:
    def failing(folder: Path) -> dict[str, str]:
        raise OSError("disk full")

    session, channel = make(halt(save=True, park=True), proceed())
    session.saver = failing
    session.report(a=1)
    assert channel.kinds == ["reported", "save_failed"]
    assert channel.sent[1][3] == "OSError: disk full"


def test_a_saver_saves_at_the_end_of_a_trial_that_was_not_short(make: Make) -> None:
    for ran_s, kinds in ((9.0, ["reported"]), (10.0, ["reported", "saved"])):
        clock = Clock()
        session, channel = make(halt(), clock=clock)
        session.saver = saver
        clock.now = ran_s
        with pytest.raises(TrialHalted):
            session.report(a=1)
        assert channel.kinds == kinds


@pytest.mark.parametrize("order", [Halt("t", 0, final=False), Halt("t", 0, park=True)])
def test_but_not_what_is_given_up(make: Make, order: Halt) -> None:
    session, channel = make(order, options={"checkpoint_at_end": True})
    session.saver = saver
    with pytest.raises(TrialHalted):
        session.report(a=1)
    assert channel.kinds == ["reported"]


class Full(FolderStore):
    """Has no room."""

    def put(self, source: Path, key: str, move: bool = False) -> str:
        raise NoRoomError("it is full")


@pytest.fixture
def full(tmp_path: Path) -> Callable[..., tuple[Session, FakeChannel]]:
    def session(*orders: Order) -> tuple[Session, FakeChannel]:
        channel = FakeChannel(orders)
        job = Job(None, "train", tmp_path / "exp", store=Full(tmp_path))
        return Session(channel, job, start(until_t=0.0 if orders else math.inf), Clock()), channel

    return session


def test_without_room_the_trial_goes_on(full: Make, tmp_path: Path, capsys: Any) -> None:
    session, channel = full()
    (tmp_path / "mine").mkdir()
    for _ in range(2):
        session.report({"a": 1}, checkpoint=tmp_path / "mine")
        session.record_checkpoint(tmp_path / "mine")
    assert [(sent[0], sent[5]) for sent in channel.sent] == [("reported", None)] * 2
    assert capsys.readouterr().err == "overtone: trial t: this state is not kept: it is full\n"
    assert files(Path(session.get_trial_dir())) == set()


def test_without_room_a_trial_that_should_pause_waits(full: Make) -> None:
    session, channel = full(halt(save=True, park=True), proceed(save=True))
    session.saver = saver
    session.report(a=1)
    assert channel.kinds == ["reported", "save_failed"]


def test_without_room_one_that_was_let_go_ends(full: Make, tmp_path: Path) -> None:
    session, channel = full(halt(save=True, park=True))
    (tmp_path / "mine").mkdir()
    session.should_checkpoint()
    session.report(a=1)
    with pytest.raises(TrialHalted):
        session.record_checkpoint(tmp_path / "mine")
    assert channel.kinds == ["reported"]


@pytest.mark.parametrize(("error", "n_tries"), [(OSError("disk full"), 2), (RuntimeError("a bug"), 1)])
def test_a_save_that_nobody_asked_for_may_fail(
    make: Make, capsys: Any, error: Exception, n_tries: int
) -> None:
    def failing(folder: Path) -> dict[str, str]:
        tries.append(1)
        raise error

    tries: list[int] = []
    clock = Clock()
    session, channel = make(until_t=math.inf, clock=clock)
    session.saver = failing
    for t in range(1, 21):
        clock.now += 1
        if session.rule.is_due(t):
            session.report_with_state({"a": 1}, is_automatic=True)
        else:
            session.report({"a": 1})
    assert channel.kinds == ["reported"] * 20
    assert len(tries) == n_tries
    assert capsys.readouterr().err.count("could not be saved, and goes on") == 1


# --- what it goes on from -----------------------------------------------------------------


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(
    make: Make, tmp_path: Path, capsys: Any
) -> None:
    session, channel = make(until_t=math.inf)
    (tmp_path / "mine").mkdir()
    for _ in range(3):
        session.report({"a": 1}, checkpoint=tmp_path / "mine")
    first, second, third = (sent[5] for sent in channel.sent)
    for one in (second, third):
        Path(one.uri, ".overtone.json").write_text("{")
    again, channel = make(until_t=math.inf, checkpoint=third, fallbacks=(second, first))
    assert (again.origin, again.iteration) == (first, 1)
    again.report(a=1)
    assert channel.sent[0][3] == 2
    lines = capsys.readouterr().err.splitlines()
    assert ["is damaged:" in line for line in lines] == [True, True, False]
    assert lines[2] == f"overtone: trial t: it goes on from the one before, {first.uri}"

    anew, _ = make(checkpoint=third, fallbacks=(second,))
    assert (anew.origin, anew.iteration, anew.checkpoint) == (None, 0, None)
    assert capsys.readouterr().err.endswith("it has no other checkpoint, and begins anew\n")


def test_a_store_that_is_away_is_no_damage(make: Make, tmp_path: Path) -> None:
    class Away(FolderStore):
        def get(self, uri: str) -> Path:
            raise StorageError("it does not answer")

    kept = Reference("t", 3, str(tmp_path))
    with pytest.raises(StorageError, match="does not answer"):
        Session(FakeChannel(), Job(None, "train", tmp_path, store=Away(tmp_path)), start(checkpoint=kept))


# --- facts --------------------------------------------------------------------------------


def test_the_facts_of_a_trial(make: Make, tmp_path: Path) -> None:
    session, _ = make()
    context = session.get_context()
    assert context.get_trial_id() == "t"
    assert context.get_trial_name() == "train_t"
    assert context.get_trial_dir() == str(tmp_path / "exp" / "t")
    assert Path(context.get_trial_dir()).is_dir()
    assert context.get_experiment_name() == "exp"
    assert context.get_trial_resources().total() == {"cpu": 1}
    assert context.get_trial_resources().head_cpus == 1
    assert (context.get_world_size(), context.get_world_rank(), context.get_local_rank()) == (1, 0, 0)


# --- the first forms of saving ------------------------------------------------------------


def test_a_file_named_in_a_made_directory_comes_with_the_next_report(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    folder = session.make_checkpoint_dir()
    Path(folder, "model").write_text("7")
    Path(folder, "more").write_text("8")
    session.save_checkpoint(Path(folder, "model"))
    session.report(acc=1)
    kept = channel.sent[0][5]
    assert files(Path(kept.uri)) >= {"model", "more"}
    assert Path(Checkpoint(kept.uri).value) == Path(kept.uri, "model")
    again, _ = make(checkpoint=kept)
    assert Path(again.checkpoint or "").read_text() == "7"


def test_a_file_from_elsewhere_is_copied(make: Make, tmp_path: Path) -> None:
    session, channel = make(until_t=math.inf)
    (tmp_path / "model").write_text("7")
    session.save_checkpoint(tmp_path / "model")
    session.report(acc=1)
    session.report(acc=2)
    assert [one[5] is not None for one in channel.sent] == [True, False]
    assert Path(Checkpoint(channel.sent[0][5].uri).value).read_text() == "7"


def test_the_value_of_a_directory_is_the_directory(tmp_path: Path) -> None:
    assert Checkpoint(tmp_path).value == str(tmp_path)


# --- sizes --------------------------------------------------------------------------------


def test_metrics_that_fit_in_no_record_are_refused_and_the_trial_may_go_on(make: Make) -> None:
    session, channel = make(until_t=math.inf)
    with pytest.raises(
        TrainableError, match=r"take up to 33,554,432.* largest metric is 'image' with about 34,000,"
    ):
        session.report({"loss": 0.5, "image": "x" * 34_000_000})
    session.report({"loss": 0.5, "image": "x" * 2_000_000})
    assert [(message[0], message[3]) for message in channel.sent] == [("reported", 1)]


def test_a_name_that_fits_in_no_line_is_refused(make: Make) -> None:
    session, _ = make(until_t=math.inf)
    with pytest.raises(TrainableError, match="up to 1,000 characters.* has 2,000,000"):
        session.report({"loss": 0.5, "x" * 2_000_000: 1})
