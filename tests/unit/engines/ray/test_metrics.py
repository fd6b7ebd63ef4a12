"""Figures of a run, for Ray's tools."""

from __future__ import annotations

from pathlib import Path

from overtone.engines.ray.metrics import Figures, list_file


class World:
    """A clock, and the values that were published."""

    def __init__(self, file: Path | None) -> None:
        self.now = 0.0
        self.values: dict[tuple[str, str], float] = {}
        self.trials: list[tuple[str, str]] = []
        self.asked = 0
        opened = list_file(file.parent, "run", "id") if file is not None else None
        self.figures = Figures("run", lambda name, _: Value(self, name), opened, lambda: self.now)

    def publish(self) -> None:
        self.figures.publish(self.running)

    def running(self) -> list[tuple[str, str]]:
        self.asked += 1
        return self.trials


class Value:
    """A gauge."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name

    def set(self, value: float, tags: dict[str, str]) -> None:
        assert tags["run"] == "run"
        self.world.values[self.name, tags["node"]] = value


def test_running_trials_and_results_a_second_are_published_by_node() -> None:
    world = World(None)
    world.trials = [("a", "x"), ("a", "y"), ("b", "z")]
    world.now, world.figures.results["a"] = 2.0, 10
    world.publish()
    assert world.values == {
        ("overtone_running_trials", "a"): 2,
        ("overtone_running_trials", "b"): 1,
        ("overtone_results_per_second", "a"): 5.0,
        ("overtone_results_per_second", "b"): 0.0,
    }


def test_nothing_is_done_more_than_once_a_second() -> None:
    world = World(None)
    for tenths in range(31):
        world.now = tenths / 10
        world.publish()
    assert world.asked == 3


def test_a_node_where_nothing_runs_any_more_is_published_as_that_and_then_forgotten() -> None:
    world = World(None)
    world.trials = [("a", "x")]
    world.now = 1.0
    world.publish()
    world.trials, world.now = [], 2.0
    world.publish()
    assert set(world.values.values()) == {0.0}
    world.values.clear()
    world.now = 3.0
    world.publish()
    assert world.values == {}


def test_the_trials_of_each_node_are_listed_where_they_change(tmp_path: Path) -> None:
    world = World(tmp_path / "list")
    world.trials = [("b", "z"), ("a", "x"), ("a", "y")]
    world.now = 1.0
    world.publish()
    path = tmp_path / "overtone-run.log"
    head, *lines = path.read_text().splitlines()
    assert head.startswith("run: 3 trials running at ")
    assert lines == ["a x y", "b z"]
    world.now = 2.0
    world.publish()
    assert path.read_text().splitlines()[0] == head
    world.figures.close()
    assert path.read_text().startswith("run: 0 trials running")


def test_live_runs_of_one_name_have_lists_of_their_own(tmp_path: Path) -> None:
    first = list_file(tmp_path, "run", "a")
    other = list_file(tmp_path, "run", "b")
    assert first is not None
    assert other is not None
    assert [Path(one.name).name for one in (first, other)] == ["overtone-run.log", "overtone-run-b.log"]
    first.close()
    again = list_file(tmp_path, "run", "c")
    assert again is not None
    assert Path(again.name).name == "overtone-run.log"
    for one in (again, other):
        one.close()


def test_a_list_that_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    world = World(tmp_path / "nowhere" / "list")
    world.trials, world.now = [("a", "x")], 1.0
    world.publish()
    assert world.values["overtone_running_trials", "a"] == 1


def test_the_tags_of_a_run_are_ascii_whatever_its_name() -> None:
    tags: list[dict[str, str]] = []

    class Noting:
        def set(self, value: float, tags_of: dict[str, str]) -> None:
            tags.append(tags_of)

    figures = Figures("essai é", lambda *_: Noting(), None, iter([0.0, 2.0]).__next__)
    figures.publish(lambda: [("a", "x")])
    assert {one["run"] for one in tags} == {r"essai \xe9"}
