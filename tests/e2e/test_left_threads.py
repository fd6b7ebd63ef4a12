"""Threads that outlive the trial that started them."""

import _thread
import os
import threading
import time

import pytest

from overtone import tune
from overtone.worker.server import run_trial

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are forked")


def run(trainable, folder, trials=4, **arguments):
    options = {"verbose": 0, "tensorboard": False, "storage_path": str(folder), "metric": "by", "mode": "max"}
    space = {"i": tune.grid_search(list(range(trials)))}
    return tune.run(trainable, config=space, **{**options, **arguments})


def tells_apart(analysis):
    """Whether every result is of the trial that has it."""
    frames = analysis.trial_dataframes.values()
    return all(set(frame["by"]) == {frame["config/i"].iloc[0]} for frame in frames)


def reports_late(config):
    def loop():
        for _ in range(50):
            tune.report({"by": config["i"], "pid": os.getpid()})
            time.sleep(0.01)

    threading.Thread(target=loop, name="loop", daemon=True).start()
    tune.report({"by": config["i"], "pid": os.getpid()})
    time.sleep(0.05)  # results of an earlier trial would come meanwhile


def hidden(config):
    def loop():
        time.sleep(0.02)
        while True:
            tune.report({"by": config["i"], "pid": os.getpid()})
            time.sleep(0.01)

    _thread.start_new_thread(loop, ())
    tune.report({"by": config["i"], "pid": os.getpid()})
    time.sleep(0.05)


def asks_without_end(config):
    session = tune.get_context()

    def loop():
        while True:
            session.report({"by": config["i"], "pid": os.getpid()})

    threading.Thread(target=loop, name="loop", daemon=True).start()
    tune.report({"by": config["i"], "pid": os.getpid()})


@pytest.mark.parametrize("trainable", [reports_late, hidden, asks_without_end])
def test_a_process_with_a_thread_that_is_left_gets_no_other_trial(trainable, tmp_path, capfd):
    # each report of the last one waits for its answer, in the thread as well
    stop = {"training_iteration": 100, "by": 99} if trainable is asks_without_end else None
    found = run(trainable, tmp_path, reuse_actors=True, max_concurrent_trials=2, stop=stop)
    assert tells_apart(found)
    pids = [set(frame["pid"]) for frame in found.trial_dataframes.values()]
    assert all(len(one) == 1 for one in pids)
    assert len(set.union(*pids)) == 4
    told = [line for line in "".join(capfd.readouterr()).splitlines() if "reuse_actors=False" in line]
    assert len(told) == 1
    assert "left threads running (" in told[0]


def test_a_thread_that_ends_with_its_trial_costs_no_process(tmp_path, capfd):
    def joins(config):
        run_trial.GRACE_S = 60.0  # in its process, on a busy machine
        thread = threading.Thread(target=tune.report, args=({"by": config["i"], "pid": os.getpid()},))
        thread.start()
        thread.join()
        threading.Timer(0.02, lambda: None).start()  # ends soon

    found = run(joins, tmp_path, reuse_actors=True, max_concurrent_trials=1)
    assert tells_apart(found)
    assert len({frame["pid"].iloc[0] for frame in found.trial_dataframes.values()}) == 1
    assert "reuse_actors" not in "".join(capfd.readouterr())


def test_without_reuse_a_late_report_goes_nowhere_with_one_warning(tmp_path, capfd):
    def late(config):
        def loop():
            for _ in range(1_000_000):  # until the process ends
                tune.report({"by": config["i"]})

        tune.report({"by": config["i"]})
        threading.Thread(target=loop, daemon=True).start()

    found = run(late, tmp_path, trials=2, stop={"training_iteration": 1_000_000})
    assert tells_apart(found)
    printed = "".join(capfd.readouterr())
    assert "Traceback" not in printed
    assert all(printed.count(f"trial {one}: thread") <= 1 for one in found.results)


def test_in_one_process_a_late_thread_has_its_own_trial(tmp_path, capfd):
    turns = [threading.Event() for _ in range(4)]
    done = [threading.Event() for _ in range(4)]

    def train(config):
        i = config["i"]

        def late():
            assert turns[i].wait(60)
            for _ in range(5):
                tune.report({"by": i})
            done[i].set()

        threading.Thread(target=late, daemon=True).start()
        tune.report({"by": i})
        if i:  # the thread of the trial before reports now
            turns[i - 1].set()
            assert done[i - 1].wait(60)
        tune.report({"by": i})

    found = run(train, tmp_path, engine="inline")
    turns[3].set()
    assert done[3].wait(60)
    assert tells_apart(found)
    assert [len(frame) for frame in found.trial_dataframes.values()] == [2] * 4
    assert capfd.readouterr().err.count("used report() after the trial had ended") == 4
