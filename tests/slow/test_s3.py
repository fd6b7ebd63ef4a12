"""Experiments on a real S3 server on the loopback: moto's, through s3fs."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from overtone import tune
from overtone.cli import main
from overtone.core.messages import Reported
from overtone.errors import StorageError
from overtone.journal.reader import read
from overtone.store.files import RemoteFiles
from overtone.store.lease import Lease, LeaseHeldError
from overtone.store.remote import RemoteStore

pytestmark = pytest.mark.filterwarnings("ignore")  # of the server and its client

if os.environ.get("CI") != "true":
    pytest.importorskip("moto.server", reason='pip install "moto[server]" s3fs')
    pytest.importorskip("s3fs")

WITHIN_S = 90

SCRIPT = """
import time
from pathlib import Path
from overtone import tune

def train(config):
    first = int(Path(tune.checkpoint, "t").read_text()) if tune.checkpoint else 0
    for t in range(first + 1, config["n"] + 1):
        time.sleep(config["pause_s"] if first == 0 else 0.0)  # what goes on has nothing to wait for
        if config["saves"]:
            with tune.checkpoint_dir(step=t) as folder:
                Path(folder, "t").write_text(str(t))
        tune.report(score=t)

def run(url, resume=False, n=10, pause_s=0.05, saves=True, **options):
    config = {"n": n, "pause_s": pause_s, "saves": saves, "x": tune.grid_search([1, 2])}
    return tune.run(train, config=config, metric="score", mode="max", name="exp", storage_path=url, resume=resume,
                    verbose=0, tensorboard=False, resources_per_trial={"cpu": 0.5}, **options)
"""

ELSEWHERE = """
import platform
platform.node = lambda: "laptop"
from overtone.cli import main
raise SystemExit(main())
"""


namespace: dict = {}
exec(SCRIPT, namespace)
run = namespace["run"]


def reported(folder):
    """(trial, t) of every result in the journal of a folder."""
    events = [record.event for record in read(Path(folder) / "journal.jsonl", lazy=True)]
    return [(event.trial_id, event.t) for event in events if isinstance(event, Reported)]


def driver(url, tmp_path, **options):
    """A driver in a process of its own."""
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    script = tmp_path / "script.py"
    script.write_text(f"{SCRIPT}\nif __name__ == '__main__':\n    run({url!r}{given})\n")
    return subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True)


def wait_for(condition, process=None):
    give_up_at = time.monotonic() + WITHIN_S
    while not condition():
        assert process is None or process.poll() is None, process.stderr.read()
        assert time.monotonic() < give_up_at
        time.sleep(0.2)  # asking costs the server as much as the driver


def n_mirrored(url):
    files = RemoteFiles(f"{url}/exp")
    return sum(files.read(name).count(b'"e":"reported"') for name in files.sizes("journal"))


def test_a_search_by_real_processes_is_all_there(url, tmp_path):
    found = run(url, keep_checkpoints_num=2)
    assert sorted(t for _, t in reported(found.experiment_path)) == sorted([*range(1, 11)] * 2)
    trial = found.trials[0].trial_id
    names = RemoteFiles(f"{url}/exp").sizes(trial)
    assert {name.split("/")[1] for name in names} == {
        "checkpoint_000009", "checkpoint_000010", "params.json", "progress.csv", "result.json"
    }  # fmt: skip
    assert RemoteStore(f"{url}/exp").list(trial) == [f"{trial}/checkpoint_{t:06d}" for t in (9, 10)]
    shutil.rmtree(tmp_path / "cache")
    again = tune.ExperimentAnalysis(f"{url}/exp")
    assert again.best_result["score"] == 10
    assert Path(again.best_checkpoint.path, "t").read_text() == "10"
    assert again.dataframe().to_dict() == found.dataframe().to_dict()


def test_a_checkpoint_is_packed_and_a_pack_is_loaded_from_there(url, tmp_path):
    from overtone import load_pack

    found = run(url)
    shutil.rmtree(tmp_path / "cache")
    digest = tune.ExperimentAnalysis(f"{url}/exp").pack(tmp_path / "pack")
    assert load_pack(tmp_path / "pack").config["x"] == found.best_config["x"]
    names = [one for one in (tmp_path / "pack").rglob("*") if one.is_file()]
    there = RemoteFiles(url.replace("results", "pack"))
    there.upload({one.relative_to(tmp_path / "pack").as_posix(): one for one in names})
    loaded = load_pack(there.url, sha256=digest)
    assert Path(loaded.checkpoint.path, "t").read_text() == "10"
    there.write("checkpoint/t", b"11")
    with pytest.raises(StorageError, match=f"{there.url} is damaged: checkpoint/t is not the file"):
        load_pack(there.url)


@pytest.mark.parametrize("how", ["restore", "command"])
def test_a_driver_that_was_killed_goes_on_on_another_machine(url, tmp_path, monkeypatch, how):
    first = driver(url, tmp_path, pause_s=0.3)
    wait_for(lambda: n_mirrored(url) >= 4, first)
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stderr.close()
    n = n_mirrored(url)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    if how == "restore":
        assert tune.Tuner.can_restore(f"{url}/exp")
        tune.Tuner.restore(f"{url}/exp", namespace["train"], verbose=0).fit()
    else:
        subprocess.run(
            [sys.executable, "-m", "overtone", "resume", f"{url}/exp"], check=True, timeout=WITHIN_S
        )
    found = tune.ExperimentAnalysis(f"{url}/exp")
    assert len(reported(found.experiment_path)) >= n
    for trial in found.trials:
        assert trial.last_result["score"] == 10
        assert [row["training_iteration"] for row in trial.results()] == [*range(1, 11)]
    assert len(RemoteFiles(f"{url}/exp").sizes("lease")) == 2


def test_a_second_driver_is_refused_100_of_100(url):
    files = RemoteFiles(f"{url}/exp")
    held = Lease.acquire(files)

    def refused(_):
        with pytest.raises(
            LeaseHeldError,
            match=rf"is being written by process {os.getpid()} on .*, since \d+ s ago \(last heard of \d+ s ago\)",
        ):
            Lease.acquire(files)
        return True

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(refused, range(100))) == 100
    held.check()
    held.release()
    Lease.acquire(files).release()


def test_a_second_driver_is_refused_while_the_first_one_runs(url, tmp_path):
    first = driver(url, tmp_path, pause_s=2.0, saves=False)  # the watchers wait for renewals, each up to 6 s
    wait_for(lambda: RemoteFiles(f"{url}/exp").sizes("lease"), first)
    for resume in (False, "AUTO"):
        with pytest.raises(StorageError, match=rf"is being written by process {first.pid} on "):
            run(url, resume=resume)
    assert first.wait(WITHIN_S) == 0, first.stderr.read()
    first.stderr.close()
    assert tune.ExperimentAnalysis(f"{url}/exp").best_result["score"] == 10


def test_a_server_that_goes_away_and_comes_back_stops_nothing(url, server, capfd):
    def outage():
        wait_for(lambda: n_mirrored(url) >= 2)
        server.stop()
        time.sleep(2)
        server.start()

    thread = threading.Thread(target=outage)
    thread.start()
    found = run(url, pause_s=0.2, n=12)
    thread.join()
    assert [trial.last_result["score"] for trial in found.trials] == [12, 12]
    assert sorted(t for _, t in reported(found.experiment_path)) == sorted([*range(1, 13)] * 2)
    assert n_mirrored(url) == 24
    assert "overtone: the store answers again" in capfd.readouterr().out  # said by a trial that waited


def test_a_server_that_stays_away_ends_the_run_and_all_local_state_is_kept(url, server):
    def outage():
        wait_for(lambda: n_mirrored(url) >= 2)
        server.stop()

    thread = threading.Thread(target=outage)
    thread.start()
    try:
        with pytest.raises(
            StorageError, match=r"Could not connect.*tried again for \d+ s.*resume=\"AUTO\""
        ) as caught:
            run(url, pause_s=0.2, n=200, saves=False, storage_patience_s=2)
    finally:
        thread.join()
        server.start()
    found = caught.value.analysis
    n = len(reported(found.experiment_path))
    assert n > n_mirrored(url)
    assert Path(found.trials[0].local_path, "result.json").exists()
    run(url, resume="AUTO", saves=False, time_budget_s=0.1)
    assert n_mirrored(url) >= n


def test_what_will_not_pass_is_said_at_once(url):
    with pytest.raises(StorageError, match="s3://no-such-bucket/exp/.* Make the bucket or folder first"):
        run("s3://no-such-bucket", storage_patience_s=3600)  # which it does not spend


def test_commands_name_a_bucket_that_is_not_there(url, capsys):
    bucket = url.removesuffix("/results")
    for command in (["ls", "s3://no-such-bucket"], ["show", "s3://no-such-bucket/exp"]):
        assert main(command) == 1
        assert (
            f"{command[1]} cannot be listed: The specified bucket does not exist" in capsys.readouterr().err
        )
    for there in (bucket, url):  # a folder comes with its first file
        assert main(["ls", there]) == 0
        assert f"no experiments in {there}" in capsys.readouterr().err


class Followed:
    """The dashboard of a URL on another machine, and what its stream sends."""

    def __init__(self, url: str, home: Path) -> None:
        home.mkdir(mode=0o700)
        places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"), str(home))
        self.process = subprocess.Popen(
            [sys.executable, "-c", ELSEWHERE, "ui", url, "--port", "0"],
            env={**os.environ, **places}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.address, _, self._token = self.process.stdout.readline().strip().partition("/#token=")
        self.events = []
        self._reader = threading.Thread(target=self._read)

    def ask(self, path: str, body: object = None) -> tuple[int, dict]:
        answer = self._answer(path, None if body is None else json.dumps(body))
        return answer.status, json.loads(answer.read())

    def follow(self, path: str) -> None:
        """Keep the events of a stream: (name, data)."""
        self._stream = self._answer(path)
        self._reader.start()

    def of(self, kind: str) -> list:
        return [data for name, data in self.events if name == kind]

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(WITHIN_S)
        self.process.stdout.close()
        if self._reader.ident:
            self._reader.join()

    def _read(self) -> None:
        lines = (line.decode().rstrip() for line in self._stream)
        for line in lines:
            if line.startswith("event: "):
                next(lines)
                name, text = line.removeprefix("event: "), next(lines).removeprefix("data: ")
                self.events.append((name, text if name == "rows" else json.loads(text)))

    def _answer(self, path: str, body: str | None = None) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=WITHIN_S)
        given = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        connection.request("GET" if body is None else "POST", f"/api/experiments{path}", body, given)
        return connection.getresponse()


def test_the_page_on_another_machine_follows_and_outlives_an_outage(url, server, tmp_path):
    first = driver(url, tmp_path, n=10_000, pause_s=0.2, saves=False)
    wait_for(lambda: n_mirrored(url) >= 2, first)
    page = Followed(url, tmp_path / "laptop")
    try:
        (listed,) = page.ask("")[1]["experiments"]
        assert (listed["path"], listed["state"]) == (f"{url}/exp", "running")
        before = page.ask("/exp/overview")[1]
        assert (before["state"], before["is_polled"]) == ("running", True)
        page.follow(f"/exp/stream?from={before['n']}&journal={before['journal']}")
        wait_for(lambda: page.of("rows"), first)
        status, refused = page.ask("/exp/actions", {"verb": "stop", "id": "stop it now"})
        assert status == 409
        assert refused["error"].startswith(f"{url}/exp is run by process {first.pid} on ")
        assert (
            "another machine than this one, laptop: use `overtone ctl` or `overtone ui` there"
            in refused["error"]
        )
        server.stop()
        wait_for(lambda: any(page.of("problem")), first)
        assert page.ask("")[0] == 502
        assert page.ask("/exp/overview")[1]["results"] >= before["results"]
        assert page.ask("/exp/machines")[0] == 200
        server.start()
        wait_for(lambda: page.of("problem")[-1] is None)
        first.send_signal(signal.SIGINT)
        wait_for(lambda: page.of("overview")[-1]["state"] == "interrupted")
        assert page.of("overview")[-1]["results"] == n_mirrored(url)
        assert {one["state"] for one in page.of("overview")} <= {"running", "stopping", "interrupted"}
        assert "Could not connect" in next(filter(None, page.of("problem")))["error"]
    finally:
        page.close()
        first.kill()
        first.wait()
        first.stderr.close()
