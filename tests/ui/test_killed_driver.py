"""Requests from the page while the driver is killed: each is one record, and holds after the resume."""

from __future__ import annotations

import http.client
import json
import threading
import time
from urllib.parse import urlsplit

from overtone.analysis import ExperimentAnalysis
from tests.ui.harness import WITHIN_S, read_records

RUN = """
import pathlib, sys, time
from overtone import tune

def train(config):
    checkpoint = tune.get_checkpoint()
    t = checkpoint.to_dict()["t"] if checkpoint else 0
    while not pathlib.Path(sys.argv[2]).exists():
        t += 1
        time.sleep(0.02)
        tune.report({"loss": config["lr"] + 1 / t}, checkpoint=tune.Checkpoint.from_dict({"t": t}))

tune.run(train, name="live", storage_path=sys.argv[1], num_samples=6, metric="loss", mode="min", verbose=0, seed=3,
         config={"lr": tune.uniform(0, 1)}, resources_per_trial={"cpu": 0.1}, max_concurrent_trials=3, resume="AUTO")
"""

ROUNDS = [
    [("note", 0, {"text": "odd"}), ("priority", 1, {"priority": 7}), ("pause", 0, {})],
    [("resume", 0, {}), ("add", None, {"config": {"lr": 0.25}}), ("limits", None, {"concurrency": 4})],
    [("clone", 1, {"changes": {"lr": 0.5}}), ("save", 1, {}), ("stop_trial", 2, {})],
]
"""The requests that are sent at the same time, before a kill: verb, number of the trial, and its values."""


class Run:
    """A run that is killed and resumed, and the server that shows it."""

    def __init__(self, start, server, folder, end) -> None:
        self._start, self._arguments, self._address = start, (str(folder), str(end)), urlsplit(server.origin)
        self._token, self.journal = server.token, folder / "live" / "journal.jsonl"
        self.process = start(RUN, *self._arguments)

    def records(self, kind: str) -> list[dict]:
        return [one for one in read_records(self.journal) if one["e"] == kind]

    def kill(self) -> None:
        """Kill the driver, and resume the run."""
        n = len(self.records("driver"))
        self.process.kill()
        self.process.wait()
        self.process = self._start(RUN, *self._arguments)
        self.wait(lambda: len(self.records("driver")) > n)

    def wait(self, is_there) -> None:
        until = time.monotonic() + WITHIN_S
        while not is_there():
            assert time.monotonic() < until
            assert self.process.poll() is None, self.process.stdout.read()
            time.sleep(0.02)

    def ask(self, verb: str, trial: str | None, args: dict, key: str) -> dict:
        """Send a request, as the page does."""
        body = json.dumps({"verb": verb, "trial": trial, "args": args, "id": key})
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(self._address.hostname, self._address.port, timeout=WITHIN_S)
        try:
            connection.request("POST", "/api/experiments/live/actions", body, headers)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def ask_until_taken(self, *request) -> None:
        """Repeat a request, with the same id, until it is taken."""
        self.wait(lambda: "n" in self.ask(*request))


def test_a_request_is_one_record_though_the_driver_is_killed(serve, start_run, tmp_path):
    folder, end = tmp_path / "results", tmp_path / "end"
    folder.mkdir()
    run = Run(start_run, serve(folder), folder, end)
    run.wait(lambda: run.journal.exists() and len({one["trial_id"] for one in run.records("started")}) == 3)
    trials = list(dict.fromkeys(one["trial_id"] for one in run.records("started")))
    keys = []
    for number, requests in enumerate(ROUNDS):
        sent = [
            (verb, None if at is None else trials[at], args, f"request-{number}-{verb}")
            for verb, at, args in requests
        ]
        threads = [threading.Thread(target=run.ask, args=one) for one in sent]
        for one in threads:
            one.start()
        time.sleep(0.02)  # the kill falls into the middle of one request or another
        run.kill()
        for one in threads:
            one.join()
        for one in sent:
            run.ask_until_taken(*one)
        keys += [key for *_, key in sent]
    run.ask_until_taken("stop", None, {}, "request-stop")
    run.process.wait(WITHIN_S)
    taken = {one["request"]: one for one in run.records("requested")}
    assert sorted(one["request"] for one in run.records("requested")) == sorted([*keys, "request-stop"])
    assert all("from the dashboard" in one["who"] for one in taken.values())
    assert [one["n"] for one in taken.values()] == sorted(one["n"] for one in taken.values())
    # what was asked for still holds, read from the journal
    end.touch()
    analysis = ExperimentAnalysis(str(folder / "live"))
    values = [trial.config["lr"] for trial in analysis.trials]
    assert values.count(0.25) == values.count(0.5) == 1
    assert next(one for one in analysis.trials if one.trial_id == trials[2]).status == "TERMINATED"
