"""A slow searcher thinks in a process of its own, and nobody can tell but by the time."""

import os
from threading import Event

import pytest

from overtone import tune
from overtone.core.messages import Observe, Suggest, Suggested
from overtone.core.resources import Resources
from overtone.core.trial import Trial
from overtone.core.types import Result
from overtone.errors import OvertoneError
from overtone.run.process_host import ProcessHost
from overtone.space import parse
from overtone.tune.search import Searcher


def relu(x):
    return max(x, 0)


class Elsewhere(Searcher):
    """Says where it is, and what it was told."""

    is_slow = True

    def __init__(self):
        self.told = []

    def on_start(self, space, seed):
        self.act = space.items["act"].values[0]

    def suggest(self, index):
        if index == 13:
            raise RuntimeError("unlucky")
        if index == 14:
            os._exit(3)
        return {"act": self.act, "pid": os.getpid(), "told": list(self.told)}

    def on_trial_end(self, trial):
        self.told.append((trial.id, trial.config["act"] is self.act))


SPACE = parse({"act": tune.choice([relu, "tanh"]), "pid": 0, "told": []})
TRIAL = Trial("t", 0, {"act": relu, "pid": 0, "told": []}, Resources.of({"cpu": 1}))


@pytest.fixture
def host():
    searcher, news = Elsewhere(), Event()
    searcher.on_start(SPACE, 0)
    searcher.told.append(("earlier", True))
    made = ProcessHost(searcher, SPACE, lambda: 2.5, news.set, {3: {"act": "tanh", "pid": 0, "told": []}})
    made.news = news
    yield made
    made.close()
    assert made._process.poll() is not None


def answers(host, count):
    found = []
    while len(found) < count:
        assert host.news.wait(30)
        host.news.clear()
        found += host.poll()
    return found


def test_it_goes_on_from_what_it_knows_and_objects_stay_themselves(host):
    for question in (
        Suggest(0),
        Observe(TRIAL, Result(1, 0.5, (0.5,))),
        Observe(TRIAL, None),
        Suggest(1),
        Suggest(3),
    ):
        assert host.submit(question) is None
    first, second, known = answers(host, 3)
    assert (first.time, first.index, first.config["act"]) == (2.5, 0, relu)
    assert first.config["pid"] not in (os.getpid(), 0)
    assert [list(one) for one in second.config["told"]] == [["earlier", True], ["t", True]]
    assert known == Suggested(2.5, 3, {"act": "tanh", "pid": 0, "told": []})


def test_what_it_raises_is_raised_with_its_traceback(host):
    host.submit(Suggest(13))
    with pytest.raises(RuntimeError, match="unlucky") as caught:
        answers(host, 1)
    assert 'RuntimeError("unlucky")' in str(caught.value.__cause__)


def test_its_death_is_an_error_that_names_it(host):
    host.submit(Suggest(14))
    with pytest.raises(OvertoneError, match=r"process of Elsewhere ended \(exit code 3\): resume"):
        answers(host, 1)


def test_what_cannot_be_pickled_is_told_at_once():
    searcher = Elsewhere()
    searcher.lock = Event()
    with pytest.raises(OvertoneError, match="Elsewhere has is_slow=True and cannot go"):
        ProcessHost(searcher, SPACE, float, print).submit(Suggest(0))


def test_trials_run_beside_it(tmp_path):
    def train(config):
        tune.report({"loss": 1.0, "own": os.getpid()})

    found = tune.run(
        train, config={"act": tune.choice([relu, "tanh"])}, search_alg=tune.search.ConcurrencyLimiter(Elsewhere(), 2),
        num_samples=3, metric="loss", mode="min", storage_path=tmp_path, verbose=0, tensorboard=False,
    )  # fmt: skip
    pids = {trial.config["pid"] for trial in found.trials}
    assert len(pids) == 1
    assert not pids & {os.getpid(), *(trial.last_result["own"] for trial in found.trials)}
    assert found.best_config["act"] is relu
