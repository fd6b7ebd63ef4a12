"""Trials of the class API."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.core.messages import Start
from overtone.core.types import Checkpoint
from overtone.testing import faulty
from overtone.testing.fake_channel import FakeChannel, halt, proceed, start
from overtone.testing.folder_store import FolderStore
from overtone.worker.protocol import Order, decode
from overtone.worker.server.run_trial import run_trial
from overtone.worker.session.session import Session
from overtone.worker.trainables.class_trial import KeptInstance, is_steppable
from overtone.worker.trainables.trainable import Trainable

Run = Callable[..., FakeChannel]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def go(trainable: Any, *orders: Order, first: Start | None = None, **options: Any) -> FakeChannel:
        channel = FakeChannel(orders)
        job = Job(trainable, "Train", tmp_path / "exp", store=FolderStore(tmp_path / "store"), **options)
        run_trial(channel, job, first or start(until_t=99))
        return channel

    return go


def story(channel: FakeChannel) -> list[str]:
    words = {
        "reported": lambda one: f" {one[3]}",
        "saved": lambda one: f" {one[3].t}",
        "ended": lambda one: f" {one[3]}",
    }
    return [one[0] + words.get(one[0], lambda _: "")(one) for one in channel.sent]


def test_it_steps_until_it_is_done(run: Run) -> None:
    channel = run(faulty.Steps)
    assert story(channel) == ["started", "reported 1", "reported 2", "reported 3", "ended returned"]
    assert [decode(one[4])["done"] for one in channel.sent[1:4]] == [False, False, True]


def test_it_saves_every_so_often_and_at_the_end(run: Run) -> None:
    channel = run(faulty.Steps, first=start({"n": 5}, until_t=99), checkpoint_freq=2, checkpoint_at_end=True)
    saved = [one[5] and one[5].t for one in channel.sent if one[0] == "reported"]
    assert saved == [None, 2, None, 4, 5]


class Ticking(faulty.Steps):
    """Each step takes a second of the clock that the session goes by, and each save a tenth."""

    now = 0.0
    cost_s = 0.1

    def step(self) -> Any:
        type(self).now += 1
        return super().step()

    def save_checkpoint(self, checkpoint_dir: str) -> Any:
        type(self).now += self.cost_s
        return super().save_checkpoint(checkpoint_dir)


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> type[Ticking]:
    kind = type("Ticking", (Ticking,), {"now": 0.0})
    plain = Session.__init__

    def init(self: Session, *args: Any) -> None:
        plain(self, *args, clock=lambda: kind.now)

    monkeypatch.setattr(Session, "__init__", init)
    return kind


@pytest.mark.parametrize(
    ("options", "saved"),
    [
        ({}, [(10, True), (20, True), (25, True)]),
        ({"checkpoint_at_end": False}, [(10, True), (20, True)]),
        ({"checkpoint_at_end": True}, [(10, True), (20, True), (25, False)]),
        ({"checkpoint_freq": 0}, []),
        ({"checkpoint_freq": 12}, [(12, False), (24, False)]),
    ],
)
def test_it_is_saved_without_asking(run: Run, ticking: type, options: Any, saved: Any) -> None:
    channel = run(ticking, first=start({"n": 25}, until_t=99), **options)
    kept = [one[5] for one in channel.sent if one[0] == "reported" and one[5]]
    assert [(one.t, one.is_automatic) for one in kept] == saved


def test_a_result_may_ask_for_a_save(run: Run) -> None:
    class Asking(faulty.Steps):
        def step(self) -> Any:
            return {**super().step(), "should_checkpoint": self.t == 2}

    channel = run(Asking)
    assert [one[5] and one[5].t for one in channel.sent if one[0] == "reported"] == [None, 2, None]


def test_it_goes_on_from_a_dict(run: Run) -> None:
    first = run(faulty.Steps, halt(save=True), first=start())
    assert story(first) == ["started", "reported 1", "saved 1", "ended halted"]
    again = run(faulty.Steps, first=start(checkpoint=first.sent[2][3], until_t=99))
    assert story(again) == ["started", "reported 2", "reported 3", "ended returned"]
    assert decode(again.sent[1][4])["step"] == 2


class Files(Trainable):
    """Saves in the form that `form` says, and remembers what it got back."""

    form = "file"
    loaded: list[str] = []

    def step(self) -> Any:
        return {"a": 1, "done": True}

    def save_checkpoint(self, checkpoint_dir: str) -> Any:
        inside = Path(checkpoint_dir, "model.txt")
        if self.form == "outside":
            inside = Path(self.logdir, "mine.txt")
        if self.form == "subfolder":
            inside = Path(checkpoint_dir, "deep", "model.txt")
            inside.parent.mkdir()
        inside.write_text("7")
        return {"file": str(inside), "outside": inside, "subfolder": str(inside.parent),
                "folder": checkpoint_dir, "nothing": None}[self.form]  # fmt: skip

    def load_checkpoint(self, checkpoint: Any) -> None:
        self.loaded.append(checkpoint)


@pytest.mark.parametrize(
    ("form", "name"),
    [("file", "model.txt"), ("outside", "mine.txt"), ("subfolder", "deep"), ("folder", ""), ("nothing", "")],
)
def test_load_gets_the_like_of_what_save_returned(run: Run, form: str, name: str) -> None:
    kind = type("Files", (Files,), {"form": form, "loaded": []})
    kept = run(kind, checkpoint_at_end=True).sent[1][5]
    run(kind, first=start(checkpoint=kept, until_t=99))
    (loaded,) = kind.loaded
    assert loaded == str(Path(kept.uri, name))
    file = Path(loaded) if name.endswith(".txt") else next(Path(loaded).glob("*.txt"))
    assert file.read_text() == "7"


@pytest.mark.parametrize("returned", ["/nowhere/at/all", 7])
def test_a_wrong_return_of_save_is_an_error(run: Run, returned: Any) -> None:
    class Wrong(faulty.Steps):
        def save_checkpoint(self, checkpoint_dir: str) -> Any:
            return returned

    channel = run(Wrong, checkpoint_freq=1)
    assert channel.sent[-1][3] == "raised"
    assert f"Wrong.save_checkpoint() returned {returned!r}" in channel.sent[-1][4]


def test_checkpoint_freq_needs_a_save(run: Run) -> None:
    class Stateless(Trainable):
        def step(self) -> Any:
            return {"a": 1}

    channel = run(Stateless, checkpoint_freq=1)
    assert story(channel) == ["started", "ended raised"]
    assert "Stateless.save_checkpoint(self, checkpoint_dir)" in channel.sent[-1][4]


def test_without_a_save_it_parks_as_a_function_does(run: Run) -> None:
    class Stateless(Trainable):
        def step(self) -> Any:
            return {"a": 1, "done": self.iteration == 1}

    channel = run(Stateless, halt(save=True, park=True), proceed(), proceed(), first=start())
    assert story(channel) == ["started", "reported 1", "save_failed", "reported 2", "ended returned"]


def test_cleanup_is_called_however_it_ends(run: Run) -> None:
    ends: list[str] = []

    class Cleaning(faulty.Steps):
        def cleanup(self) -> None:
            ends.append(self.trial_id)

        def step(self) -> Any:
            if self.config.get("fails"):
                raise ValueError
            return super().step()

    run(Cleaning)
    run(Cleaning, halt(), first=start())
    run(Cleaning, first=start({"fails": True}))
    assert ends == ["t", "t", "t"]


def test_a_new_config_goes_through_reset_config(run: Run) -> None:
    seen: list[Any] = []

    class Resetting(faulty.Steps):
        def reset_config(self, new_config: dict[str, Any]) -> bool:
            seen.append(dict(new_config))
            return True

    run(Resetting, proceed(config={"n": 1, "lr": 2}), proceed(), first=start())
    assert seen == [{"n": 1, "lr": 2}]


def test_a_class_that_refuses_a_new_config_fails(run: Run) -> None:
    class Rigid(faulty.Steps):
        def reset_config(self, new_config: dict[str, Any]) -> bool:
            return False

    channel = run(Rigid, proceed(config={"lr": 2}), first=start())
    assert "reset_config(new_config) did not return True" in channel.sent[-1][4]


def test_parameters_go_to_setup(run: Run) -> None:
    class Given(Trainable):
        def setup(self, config: dict[str, Any], data: Any) -> None:  # type: ignore[override]
            self.data = data

        def step(self) -> Any:
            return {"sum": sum(self.data), "done": True}

    assert decode(run(Given, parameters={"data": [1, 2]}).sent[1][4])["sum"] == 3


def test_any_class_with_a_step_will_do(run: Run) -> None:
    class Plain:
        def __init__(self, config: dict[str, Any]) -> None:
            self.left = config.get("n", 2)

        def step(self) -> Any:
            self.left -= 1
            return {"left": self.left, "done": self.left == 0}

    class Bare:
        def _train(self) -> Any:
            return {"a": 1, "done": True}

    class NoArguments(Bare):
        def __init__(self) -> None:
            self.made = True

    assert story(run(Plain)) == ["started", "reported 1", "reported 2", "ended returned"]
    for kind in (Bare, NoArguments):
        assert story(run(kind)) == ["started", "reported 1", "ended returned"]


def test_the_object_knows_its_trial(run: Run, tmp_path: Path) -> None:
    class Knowing(Trainable):
        def step(self) -> Any:
            demand = self.trial_resources.total()
            return {
                "id": self.trial_id,
                "name": self.trial_name,
                "dir": self.logdir,
                "cpu": demand["cpu"],
                "done": True,
            }

    metrics = decode(run(Knowing).sent[1][4])
    assert (metrics["id"], metrics["name"], metrics["cpu"]) == ("t", "Train_t", 1)
    assert metrics["dir"] == str(tmp_path / "exp" / "t")


def test_what_is_steppable() -> None:
    assert is_steppable(faulty.Steps)
    assert not is_steppable(faulty.Steps({}))
    assert not is_steppable(faulty.reports)
    assert not is_steppable(Checkpoint)


# --- an object that is kept for the next trial ----------------------------------------------


class Resettable(Trainable):
    """Notes what is called on it; `answers` says what `reset_config` does, in order."""

    calls: list[str]
    answers: list[Any]

    def setup(self, config: dict[str, Any]) -> None:
        self.calls.append(f"setup {config} of {self.trial_id}")

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        assert new_config is self.config
        self.calls.append(f"reset {new_config} of {self.trial_id}")
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    def step(self) -> Any:
        if self.config.get("fails"):
            raise ValueError("in step")
        return {"t": self.iteration, "id": self.trial_id, "done": self.config.get("done", True)}

    def save_checkpoint(self, checkpoint_dir: str) -> Any:
        return {"of": self.trial_id}

    def load_checkpoint(self, checkpoint: Any) -> None:
        self.calls.append(f"load {checkpoint}")

    def cleanup(self) -> None:
        self.calls.append(f"cleanup of {self.trial_id}")


@pytest.fixture
def reused(tmp_path: Path) -> Callable[..., tuple[list[str], list[FakeChannel]]]:
    """Runs trials one after the other in a process that is reused."""

    def go(*starts: Start, answers: Any = (), kind: type = Resettable, **options: Any) -> Any:
        kind = type("Resettable", (kind,), {"calls": [], "answers": list(answers)})
        job = Job(kind, "Train", tmp_path / "exp", store=FolderStore(tmp_path / "store"), **options)
        kept, channels = KeptInstance(), []
        for one in starts:
            channels.append(FakeChannel([halt(save=True)]))
            run_trial(channels[-1], job, one, kept=kept)
        kept.stop()
        return kind.calls, channels  # type: ignore[attr-defined]

    return go


def a_start(trial_id: str, config: Any = None, **more: Any) -> Start:
    return start(config or {}, until_t=99, trial_id=trial_id, **more)


def test_the_object_of_the_last_trial_goes_on_where_reset_config_returns_true(reused: Any) -> None:
    calls, channels = reused(a_start("a", {"x": 1}), a_start("b", {"x": 2}), answers=[True])
    assert calls == ["setup {'x': 1} of a", "reset {'x': 2} of b", "cleanup of b"]
    result = decode(channels[1].sent[1][4])
    assert (result["t"], result["id"], result["training_iteration"]) == (0, "b", 1)


@pytest.mark.parametrize("answer", [False, None])
def test_an_object_that_refuses_cleans_up_as_its_own_trial_and_a_new_one_is_made(
    reused: Any, answer: Any
) -> None:
    calls, channels = reused(a_start("a"), a_start("b"), answers=[answer])
    assert calls == ["setup {} of a", "reset {} of b", "cleanup of a", "setup {} of b", "cleanup of b"]
    assert channels[1].kinds == ["started", "reported", "ended"]


def test_an_error_in_reset_config_fails_that_trial_alone(reused: Any) -> None:
    calls, channels = reused(a_start("a"), a_start("b"), a_start("c"), answers=[ValueError("no")])
    assert channels[1].sent[-1][3:5] == ("raised", "ValueError: no")
    assert channels[2].sent[-1][3] == "returned"
    assert calls[2:] == ["cleanup of b", "setup {} of c", "cleanup of c"]


def test_the_object_of_a_trial_that_failed_is_not_kept(reused: Any) -> None:
    calls, _ = reused(a_start("a", {"fails": True}), a_start("b"))
    assert calls == ["setup {'fails': True} of a", "cleanup of a", "setup {} of b", "cleanup of b"]


def test_a_trial_that_goes_on_from_a_checkpoint_loads_it_into_the_object(reused: Any) -> None:
    _, channels = reused(start({"done": False}))
    kept = next(one[3] for one in channels[0].sent if one[0] == "saved")
    calls, channels = reused(a_start("b"), a_start("c", checkpoint=kept), answers=[True])
    assert calls == ["setup {} of b", "reset {} of c", "load {'of': 't'}", "cleanup of c"]
    assert decode(channels[1].sent[1][4])["training_iteration"] == kept.t + 1


def test_a_class_without_reset_config_is_made_anew(reused: Any) -> None:
    class Plain(Resettable):
        reset_config = Trainable.reset_config

    calls, _ = reused(a_start("a"), a_start("b"), kind=Plain)
    assert calls == ["setup {} of a", "cleanup of a", "setup {} of b", "cleanup of b"]


def test_the_first_name_of_reset_config_serves_as_well(reused: Any) -> None:
    class Old(Resettable):
        reset_config = Trainable.reset_config

        def _reset(self, new_config: dict[str, Any]) -> bool:
            return True

    calls, _ = reused(a_start("a"), a_start("b"), kind=Old)
    assert calls == ["setup {} of a", "cleanup of b"]


def test_without_reuse_nothing_is_kept(run: Run) -> None:
    kind = type("Resettable", (Resettable,), {"calls": [], "answers": []})
    run(kind)
    run(kind)
    assert kind.calls == ["setup {} of t", "cleanup of t"] * 2  # type: ignore[attr-defined]


def test_an_object_whose_threads_would_stay_cleans_up_first(reused: Any) -> None:
    class Loading(Resettable):
        def setup(self, config: dict[str, Any]) -> None:
            self.ends = threading.Event()
            self.thread = threading.Thread(target=self.ends.wait, args=(10,), name="loader")
            self.thread.start()

        def cleanup(self) -> None:
            self.ends.set()
            self.thread.join(60)

    _, channels = reused(a_start("a"), a_start("b"), kind=Loading, answers=[True])
    assert [one.kinds for one in channels] == [["started", "reported", "ended"]] * 2
