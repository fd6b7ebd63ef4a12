"""Notifications: a real server and real commands get them, and none of them holds up or ends a run."""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from overtone import tune
from overtone.engines.simulated import Simulated
from overtone.observers.callbacks.notification import _Queue


@pytest.fixture
def server():
    """A server that keeps the messages that are posted to it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, self.headers["Content-Type"], json.loads(body)))
            self.send_response(404 if self.path == "/wrong" else 204)
            self.end_headers()

        def log_message(self, *_):
            pass

    got = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as one:
        threading.Thread(target=one.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{one.server_port}", got
        one.shutdown()


def search(folder, *callbacks, mode="max", **more):
    def curve(config, t):
        if config["x"] == 3:
            raise RuntimeError("three is unlucky")
        return {"score": config["x"] * t} if t <= 2 else None

    options = {"engine": Simulated(workers=1), "verbose": 0, "raise_on_failed_trial": False, "name": "search", **more}
    return tune.run(
        curve, config={"x": tune.grid_search([2, 1, 3, 4])}, metric="score", mode=mode, callbacks=list(callbacks),
        storage_path=str(folder), **options,
    )  # fmt: skip


def test_a_url_gets_the_messages(server, tmp_path):
    url, got = server
    search(tmp_path, tune.NotificationCallback(url=f"{url}/hook"))
    assert {(path, kind) for path, kind, _ in got} == {("/hook", "application/json")}
    messages = [message for _, _, message in got]
    assert {message["experiment"] for message in messages} == {"search"}
    (failure,) = (one for one in messages if one["event"] == "failure")
    assert failure["trial_id"].endswith("_00002")
    assert "three is unlucky" in failure["error"]
    best = [one for one in messages if one["event"] == "best"]
    assert best[-1]["value"] == 8
    assert best[-1]["config"] == {"x": 4}
    assert [one["value"] for one in best] == sorted(one["value"] for one in best)
    assert messages[-1]["event"] == "end"
    assert messages[-1]["text"] == "search: the run is over: 3 trials done, 1 failed, best score 8"


def test_the_least_value_is_best_where_the_goal_is_the_least(server, tmp_path):
    url, got = server
    search(tmp_path, tune.NotificationCallback(url=url, on="end"), mode="min")
    assert [message["text"] for *_, message in got] == ["search: the run is over: 3 trials done, 1 failed"]
    search(tmp_path / "again", tune.NotificationCallback(url=url, on=("best", "end")), mode="min")
    assert got[-1][2]["text"].endswith("best score 1")


def test_a_command_gets_a_message(tmp_path):
    code = "import json, os, sys; json.dump([json.load(sys.stdin), dict(os.environ)], open(sys.argv[1], 'w'))"
    command = [sys.executable, "-c", code, str(tmp_path / "got.json")]
    search(tmp_path, tune.NotificationCallback(command=command, on=["end"]))
    message, environment = json.loads((tmp_path / "got.json").read_text())
    assert message["trials"] == {"TERMINATED": 3, "ERROR": 1}
    assert (environment["OVERTONE_EVENT"], environment["OVERTONE_TEXT"]) == ("end", message["text"])
    assert environment["OVERTONE_PATH"] == message["path"] == str(tmp_path / "search")


def test_a_text_is_for_the_shell(tmp_path):
    search(tmp_path, tune.NotificationCallback(command=f'echo "$OVERTONE_EVENT" >> {tmp_path}/got', on=["end", "failure"]))
    assert (tmp_path / "got").read_text() == "failure\nend\n"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({"command": "exit 3"}, "'exit 3' ended with exit status 3"),
        ({"command": ["/nowhere/at/all"]}, "/nowhere/at/all"),
        ({"url": "http://127.0.0.1:9/"}, "refused"),
    ],
)
def test_what_cannot_be_delivered_is_told_once(target, said, tmp_path, capfd):
    analysis = search(tmp_path, tune.NotificationCallback(**target))
    error = capfd.readouterr().err
    assert error.count("could not be delivered") == 1
    assert said in error
    assert len(analysis.trials) == 4


def test_a_server_that_refuses_is_told_of(server, tmp_path, capfd):
    search(tmp_path, tune.NotificationCallback(url=f"{server[0]}/wrong"))
    assert "404" in capfd.readouterr().err


def test_a_command_that_hangs_ends_with_its_children(tmp_path, capfd):
    script = f"sleep 1000 & echo $! > {tmp_path}/pid; wait"
    search(tmp_path, tune.NotificationCallback(command=script, on=["end"], timeout_s=1.0))
    assert "took more than 1 s" in capfd.readouterr().err
    pid = (tmp_path / "pid").read_text().strip()
    until = time.monotonic() + 60
    while is_alive(pid):
        assert time.monotonic() < until
        time.sleep(0.01)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_better_value_replaces_the_one_that_waits():
    got, first, free = [], threading.Event(), threading.Event()

    def deliver(message):
        got.append(message["value"])
        first.set()
        free.wait(60)

    queue = _Queue(deliver)
    queue.put({"event": "best", "value": 0})
    assert first.wait(60)
    for value in range(1, 1000):
        queue.put({"event": "best", "value": value})
    free.set()
    queue.close(20)
    assert got == [0, 999]


def test_a_resumed_run_does_not_announce_the_same_value_again(server, tmp_path):
    callback = tune.NotificationCallback(url=server[0])
    callback.set_state({"best": 100.0})
    search(tmp_path, callback)
    assert "best" not in {message["event"] for *_, message in server[1]}
    assert callback.get_state() == {"best": 100.0}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "one of command"),
        ({"command": "a", "url": "http://b"}, "one of command"),
        ({"url": "file:///etc/passwd"}, "must begin with http"),
        ({"command": "a", "on": ["ending"]}, "'ending' must be one of end, failure, best"),
    ],
)
def test_wrong_arguments_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        tune.NotificationCallback(**arguments)


def test_the_end_is_told_however_many_messages_wait(capsys):
    first, goes_on, got = threading.Event(), threading.Event(), []

    def deliver(message):
        got.append(message)
        first.set()
        goes_on.wait(60)

    queue = _Queue(deliver)
    queue.put({"event": "failure"})
    assert first.wait(60)
    for _ in range(_Queue.MOST + 499):
        queue.put({"event": "failure"})
    queue.put({"event": "end"})
    queue._ends_at = time.monotonic() - 1  # it was closed, and the others are too late
    goes_on.set()
    queue._thread.join(60)
    assert (got[-1], len(got)) == ({"event": "end"}, 2)
    queue.close(20)
    assert "1499 notifications could not be delivered" in capsys.readouterr().err


def test_a_message_that_never_ends_does_not_hold_up_the_run(capsys):
    for_ever = threading.Event()
    queue = _Queue(lambda message: for_ever.wait())
    queue.put({"event": "failure"})
    queue.put({"event": "end"})
    queue.close(-0.3)  # it waits for 0.1 s
    for_ever.set()
    assert "1 notification could not be delivered" in capsys.readouterr().err


def test_the_text_of_a_message_is_one_short_line(tmp_path):
    def fails(config):
        raise ValueError("two\0   words \ud800" + "x" * 200_000)

    tune.run(
        fails, callbacks=[tune.NotificationCallback(command=f'echo "$OVERTONE_TEXT" >> {tmp_path}/got', on="failure")],
        engine="inline", verbose=0, storage_path=str(tmp_path), raise_on_failed_trial=False,
    )  # fmt: skip
    (line,) = (tmp_path / "got").read_text().splitlines()
    assert "two words" in line
    assert len(line) < 2_100
