"""Whole experiments whose results go to a URL."""

import pickle
import re
import shutil
import time
from pathlib import Path

import pytest

from overtone import tune
from overtone.analysis import Result
from overtone.errors import OvertoneError
from overtone.store.files import RemoteFiles
from overtone.store.remote import RemoteStore

pytest.importorskip("fsspec")


def train(config):
    first = int(Path(tune.checkpoint, "t").read_text()) if tune.checkpoint else 0
    for t in range(first + 1, 4):
        with tune.checkpoint_dir(step=t) as folder:
            Path(folder, "t").write_text(str(t))
        tune.report(score=t * config["x"])


def run(url, **options):
    given = {"num_samples": 2, "engine": "inline", "name": "exp", **options}
    return tune.run(
        train, config={"x": tune.uniform(1, 2)}, metric="score", mode="max", seed=1, verbose=given.pop("verbose", 0),
        tensorboard=False, storage_path=url, **given,
    )  # fmt: skip


@pytest.fixture
def url(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return f"memory:/{tmp_path}/results"


def test_an_experiment_is_read_and_goes_on_where_nothing_is_on_the_disk(url, tmp_path, capsys):
    first = run(url)
    files = RemoteFiles(f"{url}/exp")
    before = set(files.sizes("journal"))
    rows = first.dataframe().to_dict()
    shutil.rmtree(tmp_path / "cache")
    again = tune.ExperimentAnalysis(f"{url}/exp")
    assert again.dataframe().to_dict() == rows
    assert Path(again.best_checkpoint.path, "t").read_text() == "3"
    shutil.rmtree(tmp_path / "cache")
    last = run(url, num_samples=3, resume=True, verbose=1)
    assert f"\nresults: {url}/exp\n" in capsys.readouterr().out
    assert [len(list(trial.results())) for trial in last.trials] == [3, 3, 3]
    assert last.trials[0].config == first.trials[0].config
    assert again.refresh() > 0
    assert len(again.trials) == 3
    assert all(name.endswith("-f2.jsonl") for name in files.sizes("journal").keys() - before)
    assert files.sizes("journal").keys() > before
    assert files.read(f"{last.trials[2].trial_id}/result.json").count(b"\n") == 3


class Lookout(tune.Callback):
    """At each result: what the mirrored journal would go on from is there."""

    def __init__(self, url):
        self.files, self.seen = RemoteFiles(f"{url}/exp"), set()
        self.missing = []

    def on_trial_result(self, iteration, trials, trial, result, **info):
        mirrored = b"".join(self.files.read_all(list(self.files.sizes("journal"))))
        newest = re.findall(rb'"uri": ?"[^"]*/(\w+/checkpoint_\w+)"', mirrored)[-1:]
        there = RemoteStore(self.files.url).list()
        self.missing += [key for key in newest if key.decode() not in there]
        self.seen.update(newest)


def test_a_checkpoint_is_there_as_long_as_the_mirrored_journal_goes_on_from_it(url, monkeypatch):
    monkeypatch.setattr("overtone.run.storage.mirroring.JOURNAL_EVERY_S", 0.02)
    look = Lookout(url)

    def train(config):
        for t in range(10_000):
            if t >= 40 and len(look.seen) > 1:
                break
            time.sleep(0.005)
            with tune.checkpoint_dir(step=t) as folder:
                Path(folder, "t").write_text(str(t))
            tune.report(score=t)

    tune.run(
        train, engine="inline", name="exp", verbose=0, tensorboard=False, storage_path=url, callbacks=[look],
        keep_checkpoints_num=1, raise_on_failed_trial=True,
    )  # fmt: skip
    assert len(look.seen) > 1
    assert look.missing == []
    assert len(RemoteStore(f"{url}/exp").list()) == 1


def test_a_folder_of_the_users_own_beside_checkpoints_stays(url):
    first = run(url)
    files, trial = RemoteFiles(f"{url}/exp"), first.trials[0].trial_id
    mine = {f"{trial}/checkpoint_000099/weights": b"mine", f"{trial}/checkpoint_000098/.overtone.json": b"{}"}
    files.write_all(mine)
    run(url, num_samples=3, resume=True)
    assert set(mine) <= set(files.sizes(trial))


def test_trials_begin_from_a_checkpoint_at_a_url_also_in_a_resume(url):
    first = run(url, num_samples=1, stop={"training_iteration": 2})
    begins = f"{url}/exp/{first.trials[0].trial_id}/checkpoint_000002"
    second = run(url, name="second", num_samples=1, restore=begins)
    last = run(url, name="second", num_samples=2, resume=True)
    for trial in (*second.trials, *last.trials):
        assert (trial.last_result["training_iteration"], trial.last_result["iterations_since_restore"]) == (3, 1)
    assert RemoteFiles(f"{url}/second").read("restored/checkpoint_000002/t") == b"2"


def test_memory_and_processes(url):
    with pytest.raises(OvertoneError, match='lives in the memory of this process.*choose engine="inline"'):
        run(url, engine="local")


def test_results_are_opened_pickled_and_annotated_by_their_url(url, tmp_path):
    run(url)
    analysis = tune.ExperimentAnalysis(f"{url}/exp")
    pickled = pickle.dumps((analysis, analysis.best_trial))
    shutil.rmtree(tmp_path / "cache")
    again, trial = pickle.loads(pickled)
    assert (len(again.trials), trial.config) == (2, again.best_config)
    result = Result.from_path(f"{url}/exp/{trial.trial_id}")
    assert result.metrics["score"] == again.best_result["score"]
    checkpoint = result.get_best_checkpoint("score", "max")
    checkpoint.update_metadata({"seen": 1})
    shutil.rmtree(tmp_path / "cache")
    again = tune.ExperimentAnalysis(f"{url}/exp")
    assert again.best_checkpoint.get_metadata() == {"seen": 1}
    assert Path(again.best_checkpoint.path, "t").read_text() == "3"
    with pytest.raises(OvertoneError, match="has no trial 'x'"):
        Result.from_path(f"{url}/exp/x")
