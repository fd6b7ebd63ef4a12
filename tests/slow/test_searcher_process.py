"""A slow searcher thinks in a process of its own, and nobody can tell but by the time."""

import os
import runpy
import select
import subprocess
import sys
import time
from contextlib import suppress
from threading import Event

import psutil
import pytest

from overtone import tune
from overtone.core.messages import Observe, Suggest, Suggested
from overtone.core.resources import Resources
from overtone.core.trial import Trial
from overtone.core.types import Result
from overtone.errors import OvertoneError
from overtone.journal.reader import scan
from overtone.run.searcher_process_host import ProcessHost
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
        assert host.news.wait(60)
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


SCRIPT = """
import os, sys, time
from pathlib import Path
from overtone import tune
from overtone.tune.search import Searcher

class Pondering(Searcher):
    is_slow = True

    def on_start(self, space, seed):
        self.told = []

    def suggest(self, index):
        note = Path(os.environ["NOTE"])
        if index == 3 and not note.exists():
            note.with_suffix(".new").write_text(str(os.getpid()))
            note.with_suffix(".new").rename(note)
            time.sleep(600)
        return {"x": sum(self.told) / 2 + index}

    def on_trial_end(self, trial):
        self.told.append(trial.last.score)

def train(config):
    tune.report({"score": config["x"] % 1.7})

def search(**arguments):
    found = tune.run(
        train, search_alg=Pondering(), num_samples=5, max_concurrent_trials=1, metric="score", mode="max",
        verbose=0, tensorboard=False, seed=1, name="exp", **arguments,
    )
    return [trial.config["x"] for trial in found.trials]

if __name__ == "__main__":
    print(search(storage_path=sys.argv[1], resume="AUTO"))
"""


def test_a_driver_killed_while_it_thinks_is_gone_on_with(tmp_path, monkeypatch):
    """It suggests what it would have, nothing is doubled, and its process ended with its driver."""
    script, note = tmp_path / "search.py", tmp_path / "note"
    script.write_text(SCRIPT)
    monkeypatch.setenv("NOTE", str(note))
    command = [sys.executable, str(script), str(tmp_path / "results")]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not note.exists():
        assert time.monotonic() < deadline
        assert driver.poll() is None
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(note.read_text())).wait(60)

    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    one_driver = runpy.run_path(str(script))["search"](engine="inline", storage_path=tmp_path / "other")
    assert done.stdout.splitlines()[-1] == str(one_driver)
    records = [(kind, record) for kind, record in scan(tmp_path / "results" / "exp" / "journal.jsonl")]
    assert [record["index"] for kind, record in records if kind == "suggested"] == [0, 1, 2, 3, 4]
    assert [kind for kind, _ in records].count("ended") == 5


LOUD = """
import sys
from overtone import tune
from overtone.tune.search import Searcher

class Loud(Searcher):
    is_slow = True

    def suggest(self, index):
        print("thinking", flush=True)
        return {"x": index}

    def on_trial_end(self, trial):
        pass

def train(config):
    tune.report(loss=config["x"])

if __name__ == "__main__":
    tune.run(
        train, config={"x": tune.uniform(0, 1)}, search_alg=Loud(), num_samples=2, metric="loss", mode="min",
        name="exp", storage_path=sys.argv[1], tensorboard=False, verbose=0,
    )
"""


def test_a_searcher_that_prints_is_not_stopped_by_its_terminal(tmp_path):
    """Under `stty tostop` the kernel stops a process that writes from another group than the terminal's."""
    import pty
    import termios

    script = tmp_path / "script.py"
    script.write_text(LOUD)
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            attributes = termios.tcgetattr(0)
            attributes[3] |= termios.TOSTOP
            termios.tcsetattr(0, termios.TCSANOW, attributes)
            os.execv(sys.executable, [sys.executable, str(script), str(tmp_path)])
        finally:
            os._exit(99)
    said = b""
    try:
        while select.select([terminal], [], [], 60)[0]:
            try:
                data = os.read(terminal, 4096)
            except OSError:  # its last process has ended
                break
            said += data
            if not data:
                break
        else:
            pytest.fail(f"nothing happens: {said.decode()!r}")
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, 9)
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
    assert status == 0, said
    assert said.count(b"thinking") == 2
