"""Each trial works in its own folder: on every engine, in every kind of process, and what it writes stays."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.errors import TuneError
from overtone.observers import rebuild

ORIGINAL = "TUNE_ORIG_WORKING_DIR"
MINE = {
    "result.json": '{"mine": 1}',
    "progress.csv": "epoch,loss\n1,0.5\n",
    "params.json": '{"i": 0}',
    "error.txt": "The largest error was 0.5\n",
    "events.out.tfevents.9999999999.mine": "mine",
}
"""Files under the names of Overtone's own files in a trial's folder."""


@pytest.fixture(autouse=True)
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The driver's directory, in which this process works."""
    directory = tmp_path / "driver"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


def where(config: dict[str, Any]) -> None:
    Path("model.pth").write_text(str(config["i"]))
    tune.report(
        cwd=os.getcwd(), folder=tune.get_trial_dir(), original=os.environ.get(ORIGINAL), pid=os.getpid()
    )


class Where(tune.Trainable):
    def setup(self, config: dict[str, Any]) -> None:
        self.at_setup = os.getcwd()

    def step(self) -> dict[str, Any]:
        Path("model.pth").write_text(str(self.config["i"]))
        return {"cwd": os.getcwd(), "folder": self.logdir, "original": os.environ.get(ORIGINAL), "done": True}

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        return True

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        Path(checkpoint_dir, "x").write_text("")


def search(trainable: Any, n: int = 3, **options: Any) -> list[Any]:
    """The trials of a search in the relative folder "results"."""
    options = {"storage_path": "results", "name": "exp", "verbose": 0, "tensorboard": False, **options}
    space = {"i": tune.grid_search(list(range(n))), **options.pop("config", {})}
    return list(tune.run(trainable, config=space, **options).trials)


@pytest.mark.parametrize("trainable", [where, Where])
@pytest.mark.parametrize("engine", ["local", "inline"])
@pytest.mark.parametrize("reuse", [False, True])
def test_each_trial_works_in_its_own_folder(driver: Path, trainable: Any, engine: str, reuse: bool) -> None:
    trials = search(trainable, engine=engine, reuse_actors=reuse, max_concurrent_trials=1)
    for i, trial in enumerate(trials):
        home = driver / "results" / "exp" / trial.trial_id
        found = trial.last_result
        assert (found["cwd"], found["folder"], found["original"]) == (str(home), str(home), str(driver))
        assert (home / "model.pth").read_text() == str(i)
        assert {"result.json", "progress.csv", "params.json"} <= set(os.listdir(home))
    assert os.listdir(driver) == ["results"]
    assert os.getcwd() == str(driver)
    assert ORIGINAL not in os.environ


def test_a_process_that_cannot_be_forked_reads_its_module_in_the_drivers_directory(
    driver: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (driver / "lib").mkdir()
    (driver / "table.csv").write_text("7")
    (driver / "lib" / "needs_table.py").write_text(
        textwrap.dedent(
            """
            import os, threading
            THREAD = threading.Thread(target=threading.Event().wait, daemon=True)
            THREAD.start()  # a fork would lose it
            with open("table.csv") as file:
                TABLE = int(file.read())

            def train(config):
                import needs_table_later
                return {"table": TABLE + needs_table_later.MORE, "cwd": os.getcwd()}
            """
        )
    )
    (driver / "lib" / "needs_table_later.py").write_text("MORE = 1")
    monkeypatch.setattr(sys, "path", ["lib", *sys.path])
    import needs_table  # type: ignore[import-not-found]

    (trial,) = search(needs_table.train, n=1, engine="local")
    assert trial.last_result["table"] == 8
    assert trial.last_result["cwd"] == str(driver / "results" / "exp" / trial.trial_id)
    del sys.modules["needs_table"]


@pytest.mark.parametrize("engine", ["local", "inline"])
@pytest.mark.parametrize("how", ["argument", "environment"])
def test_it_can_be_switched_off(driver: Path, monkeypatch: pytest.MonkeyPatch, engine: str, how: str) -> None:
    if how == "environment":
        monkeypatch.setenv("RAY_CHDIR_TO_TRIAL_DIR", "0")
    options = {"chdir_to_trial_dir": False} if how == "argument" else {}
    for trial in search(where, engine=engine, **options):
        assert (trial.last_result["cwd"], trial.last_result["original"]) == (str(driver), str(driver))
    assert (driver / "model.pth").exists()


@pytest.mark.parametrize("config", [tune.TuneConfig, tune.RunConfig])
def test_a_tuners_configs_switch_it_off(driver: Path, config: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_CHDIR_TO_TRIAL_DIR", "1")
    chosen = config(chdir_to_trial_dir=False)
    name = "tune_config" if config is tune.TuneConfig else "run_config"
    assert tune.Tuner(where, **{name: chosen}).to_experiment().chdir_to_trial_dir is False
    assert tune.Tuner(where).to_experiment().chdir_to_trial_dir is True
    with pytest.raises(ValueError, match="chdir_to_trial_dir is given to TuneConfig and to RunConfig"):
        tune.Tuner(
            where, tune_config=tune.TuneConfig(chdir_to_trial_dir=True),
            run_config=tune.RunConfig(chdir_to_trial_dir=False),
        )  # fmt: skip


@pytest.mark.parametrize("text", ["yes", "0.5"])
def test_a_variable_that_says_neither_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("RAY_CHDIR_TO_TRIAL_DIR", text)
    with pytest.raises(ValueError, match=f"RAY_CHDIR_TO_TRIAL_DIR='{text}': must be 1 or 0"):
        search(where)


def test_a_simulated_trial_changes_no_directory(driver: Path) -> None:
    def train(config: dict[str, Any]) -> dict[str, str]:
        return {"cwd": os.getcwd()}

    (trial,) = search(train, n=1, engine="simulated")
    assert trial.last_result["cwd"] == str(driver)


def test_a_run_in_the_background_leaves_the_directory_to_the_other_threads(driver: Path) -> None:
    run = tune.start(where, config={"i": 1}, engine="inline", storage_path="results", verbose=0)
    (trial,) = run.wait(timeout_s=60).trials
    assert trial.last_result["cwd"] == str(driver)


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_a_missing_file_of_the_drivers_directory_is_told(driver: Path, engine: str) -> None:
    (driver / "train.csv").write_text("1")

    def train(config: dict[str, Any]) -> None:
        Path("train.csv").read_text()

    with pytest.raises(
        TuneError, match=r"'train.csv' is in .*TUNE_ORIG_WORKING_DIR.*chdir_to_trial_dir=False"
    ):
        search(train, n=1, engine=engine)
    assert os.getcwd() == str(driver)
    (error,) = driver.glob("results/exp/*/error.txt")
    assert "set chdir_to_trial_dir=False" in error.read_text().splitlines()[-1]


def test_the_drivers_own_code_works_in_its_directory_between_inline_results(driver: Path) -> None:
    seen = []

    class Look(tune.Callback):
        def on_trial_result(self, iteration: Any, trials: Any, trial: Any, result: Any, **info: Any) -> None:
            seen.append(os.getcwd())

    def train(config: dict[str, Any]) -> None:
        Path("sub").mkdir()
        os.chdir("sub")
        for _ in range(3):
            tune.report(cwd=os.getcwd())

    trials = search(train, engine="inline", callbacks=[Look()], stop=lambda trial_id, result: False)
    assert set(seen) == {str(driver)}
    assert all(one.last_result["cwd"].endswith(f"{one.trial_id}/sub") for one in trials)


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_checkpoints_at_relative_paths_and_of_the_whole_folder(engine: str) -> None:
    def train(config: dict[str, Any]) -> None:
        Path("sub").mkdir(exist_ok=True)
        for i in range(1, 4):
            Path("sub", "n").write_text(str(i))
            Path("n").write_text(str(i))
            checkpoint = tune.Checkpoint.from_directory("sub" if config["i"] == 0 else ".")
            tune.report({"n": i}, checkpoint=checkpoint if config["i"] < 2 else "n")

    for i, trial in enumerate(search(train, engine=engine)):
        newest = Path(trial.checkpoint.path)
        assert newest.is_dir()
        assert (newest / "n").read_text() == "3"
        assert (newest / "sub" / "n").exists() is (i == 1)
        assert not list(newest.glob("checkpoint_*"))


def test_a_folder_that_the_trial_names_like_a_checkpoint_stays(driver: Path) -> None:
    def train(config: dict[str, Any]) -> None:
        for i in range(1, 3):
            Path(f"checkpoint_{i:06d}").mkdir()
            Path(f"checkpoint_{i:06d}", "mine").write_text(str(i))
            tune.report({"n": i}, checkpoint=tune.Checkpoint.from_directory(f"checkpoint_{i:06d}"))

    (trial,) = search(train, n=1)
    home = driver / "results" / "exp" / trial.trial_id
    assert [(home / f"checkpoint_{i:06d}" / "mine").read_text() for i in (1, 2)] == ["1", "2"]
    assert Path(trial.checkpoint.path, "mine").read_text() == "2"
    assert trial.checkpoint.path != str(home / "checkpoint_000002")


def test_the_folder_is_there_again_for_a_checkpoint_after_its_removal(driver: Path) -> None:
    def train(config: dict[str, Any]) -> None:
        import shutil

        shutil.rmtree(os.getcwd())
        with tune.checkpoint_dir() as folder:
            Path(folder, "x").write_text("1")
        tune.report(n=1)

    for engine in ("local", "inline"):
        (trial,) = search(train, n=1, engine=engine, name=engine)
        assert Path(trial.checkpoint.path, "x").read_text() == "1"
        assert os.getcwd() == str(driver)


def test_another_attempt_finds_what_the_first_wrote() -> None:
    def train(config: dict[str, Any]) -> dict[str, str]:
        with open("log.txt", "a") as file:
            file.write("x")
        if os.path.getsize("log.txt") < 3:
            raise RuntimeError("once more")
        return {"log": Path("log.txt").read_text()}

    (trial,) = search(train, n=1, max_failures=2)
    assert trial.last_result["log"] == "xxx"


# --- files of Overtone's names ------------------------------------------------------------


def writes_our_names(config: dict[str, Any]) -> None:
    for name, text in MINE.items():
        new = Path(f"{name}.mine")
        new.write_text(text)
        new.replace(name)  # whole at once: a file that is still empty counts as Overtone's
    Path("sub").mkdir(exist_ok=True)
    Path("sub", "result.json").write_text("mine")
    tune.report(n=1)
    tune.report(n=2)


def assert_mine(home: Path) -> None:
    assert {name: (home / name).read_text() for name in MINE} == MINE
    assert (home / "sub" / "result.json").read_text() == "mine"


@pytest.mark.parametrize("options", [{}, {"callbacks": [tune.Callback()]}], ids=["apart", "driver"])
@pytest.mark.parametrize("engine", ["local", "inline"])
def test_files_that_a_trial_writes_under_our_names_stay(
    driver: Path, engine: str, options: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tensorboardX")
    trials = search(writes_our_names, n=2, engine=engine, tensorboard=True, **options)
    folder = driver / "results" / "exp"
    for trial in trials:
        assert_mine(folder / trial.trial_id)
        assert trial.last_result["n"] == 2
    search(writes_our_names, n=3, engine=engine, tensorboard=True, resume=True, **options)
    for home in folder.glob("*_000*"):
        assert_mine(home)
        assert len(list(home.glob("events*.overtone"))) == 1
    rebuild(folder, tensorboard=True)
    for home in folder.glob("*_000*"):
        assert_mine(home)
    assert "cannot be written" not in capfd.readouterr().err
