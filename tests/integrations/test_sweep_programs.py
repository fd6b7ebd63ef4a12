"""Programs that behave badly, as trials."""

import os
import re
import struct
import sys
from pathlib import Path

from overtone import tune
from tests.integrations.programs import await_that, processes_with


def ran(tmp_path, source, config=None, **options):
    """Run a program of this source as the trials of an experiment; return its analysis."""
    script = tmp_path / "program.py"
    script.write_text(source)
    given = {
        name: options.pop(name)
        for name in ("metric", "pattern", "tensorboard", "chdir", "env")
        if name in options
    }
    program = tune.command([sys.executable, str(script)], **{"metric": "loss", **given})
    return tune.run(
        program, config=config or {}, metric="loss", mode="min", storage_path=tmp_path / "results", verbose=0,
        raise_on_failed_trial=False, **options,
    )  # fmt: skip


def frame_of(analysis):
    """Return the results of the only trial."""
    (trial,) = analysis.trials
    return trial.frame()


def losses(analysis):
    return list(frame_of(analysis)["loss"])


OUTPUTS = {
    "two lines": ("print('loss=1'); print('loss=2 loss=3')", [1, 3]),
    "stderr": ("import sys; print('loss: 0.5', file=sys.stderr)", [0.5]),
    "no UTF-8": ("sys.stdout.buffer.write(b'\\xff\\xfe loss=1 \\xff\\r\\n{\"loss\": 2}\\r\\n')", [1, 2]),
    "no line end": ("sys.stdout.write('loss=4')", [4]),
    "half a line of 1 MB": ("sys.stdout.write('x' * (1 << 20)); print(); print('loss=1')", [1]),
    "a progress bar": ("[print('\\rloss=%d' % i, end='') for i in range(3)]; print()", [2]),
    "a closed stdout": ("os.close(1); os.write(2, b'loss=1\\n')", [1]),
    "a child": ("subprocess.run([sys.executable, '-c', 'print(\"loss=7\")'])", [7]),
    "nan": ("print('loss=nan'); print('{\"loss\": NaN}'); print('loss=1')", [None, None, 1]),
    "a daemon": (
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True); "
        "print('loss=1')", [1],
    ),
}  # fmt: skip


def test_output_of_every_kind_is_read(tmp_path):
    source = "import os, subprocess, sys\n" + "".join(
        f"if sys.argv[1] == '--case={name}':\n    {code}\n" for name, (code, _) in OUTPUTS.items()
    )
    analysis = ran(tmp_path, source, {"case": tune.grid_search(list(OUTPUTS))})
    found = {
        trial.config["case"]: [None if one != one else one for one in trial.frame()["loss"]]
        for trial in analysis.trials
    }
    assert found == {name: expected for name, (_, expected) in OUTPUTS.items()}


FAILURES = {
    "exit code": ("print('about to fail'); sys.exit(3)", "exit code 3.*about to fail"),
    "signal": ("os.kill(os.getpid(), 11)", "killed by SIGSEGV"),
    "no metric": ("print('acc=1'); print('{\"acc\": 1}')", "'loss' never came.*metrics acc.*--pattern"),
    "exception": ("1 / 0", "ZeroDivisionError"),
}


def test_a_failure_shows_the_last_lines(tmp_path):
    source = "import os, sys\n" + "".join(
        f"if sys.argv[1] == '--case={name}':\n    {code}\n" for name, (code, _) in FAILURES.items()
    )
    analysis = ran(tmp_path, source, {"case": tune.grid_search(list(FAILURES))})
    for trial in analysis.trials:
        text = " ".join(Path(trial.local_path, "error.txt").read_text().split())
        assert trial.status == "ERROR"
        assert re.search(FAILURES[trial.config["case"]][1], text), text


def test_nothing_is_left_of_a_program_that_ignores_sigterm_and_forks_daemons(tmp_path):
    mark = f"SWEEP_TEST_MARK={os.getpid()}.{tmp_path.name}"
    source = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sleeper = [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"]
subprocess.Popen(sleeper)
subprocess.Popen(sleeper, start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
i = 0
while True:
    i += 1
    print(f"loss={i}")
    time.sleep(0.01)
"""
    name, _, value = mark.partition("=")
    analysis = ran(tmp_path, source, env={name: value}, stop={"training_iteration": 3}, grace_s=2.0)
    assert analysis.trials[0].status == "TERMINATED"
    assert len(losses(analysis)) == 3
    await_that(lambda: not processes_with(mark), "the end of all processes")


def test_a_program_saves_at_sigterm(tmp_path):
    source = """
import os, signal, sys, time
def end(*_):
    print("saved at SIGTERM")
    open(os.path.join(os.environ["OVERTONE_TRIAL_DIR"], "saved"), "w").close()
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
while True:
    print("loss=1")
    time.sleep(0.01)
"""
    analysis = ran(tmp_path, source, stop={"training_iteration": 2})
    assert analysis.trials[0].status == "TERMINATED"
    assert os.path.exists(os.path.join(analysis.trials[0].local_path, "saved"))


def test_a_program_reports_itself(tmp_path):
    source = """
import overtone, os
from overtone import tune
print(tune.get_context().get_trial_id() == os.environ["OVERTONE_TRIAL_ID"], tune.get_context().params)
for i in range(100):
    print("loss=99")
    overtone.report({"loss": i, "nan": float("nan")}) if i % 2 else tune.report(loss=i)
print("not reached")
"""
    analysis = ran(tmp_path, source, {"lr": 1}, stop={"training_iteration": 5}, pattern="never=(?P<loss>.)")
    assert losses(analysis) == [0, 1, 2, 3, 4]
    assert analysis.trials[0].status == "TERMINATED"


CHECKPOINTS = """
import json, os, sys, time
path = os.path.join(os.environ["OVERTONE_CHECKPOINT_DIR"], "state.json")
state = json.load(open(path)) if os.path.exists(path) else {"i": 0, "starts": 0}
state["starts"] += 1
while state["i"] < 8:
    state["i"] += 1
    with open(path, "w") as file:
        json.dump(state, file)
    print(json.dumps({"loss": 1 / state["i"], "i": state["i"], "starts": state["starts"]}))
    time.sleep(0.05)
    if state["i"] == 4 and state["starts"] == 1:
        sys.exit(1)
"""


def test_a_retry_has_the_last_checkpoint(tmp_path):
    analysis = ran(tmp_path, CHECKPOINTS, max_failures=1)
    frame = frame_of(analysis)
    assert list(frame["i"]) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert list(frame["training_iteration"]) == list(frame["i"])
    assert list(frame["starts"]) == [1] * 4 + [2] * 4


def test_event_files_are_read(tmp_path):
    steps = [(step, tag, 1 / (step + 1)) for step in range(3) for tag in ("loss", "other")]
    (tmp_path / "events").write_bytes(b"".join(_event(*one) for one in steps))
    source = f"""
import os, shutil
folder = os.path.join(os.environ["OVERTONE_TRIAL_DIR"], "events")
os.mkdir(folder)
shutil.copy({str(tmp_path / "events")!r}, folder + "/events.out.tfevents.1.host")
"""
    frame = frame_of(ran(tmp_path, source, tensorboard="{trial_dir}/events"))
    assert list(frame["step"]) == [0, 1, 2]
    assert list(frame["other"]) == list(frame["loss"])


def _event(step, tag, value):
    """Return the record of a scalar in an event file."""
    part = b"\x0a" + bytes([len(tag)]) + tag.encode() + b"\x15" + struct.pack("<f", value)
    event = b"\x10" + bytes([step]) + b"\x2a" + bytes([len(part) + 2]) + b"\x0a" + bytes([len(part)]) + part
    return struct.pack("<Q", len(event)) + bytes(4) + event + bytes(4)


def test_population_based_training_hands_checkpoints_over(tmp_path):
    source = """
import json, os, sys, time
lr = float(sys.argv[1].partition("=")[2])
path = os.path.join(os.environ["OVERTONE_CHECKPOINT_DIR"], "x")
x = float(open(path).read()) if os.path.exists(path) else 0.0
for _ in range(12 - int(os.environ["OVERTONE_ITERATION"])):
    x += lr
    with open(path, "w") as file:
        file.write(str(x))
    print(f"loss={-x} x={x}")
    time.sleep(0.02)
"""
    pbt = tune.schedulers.PopulationBasedTraining(
        time_attr="training_iteration",
        perturbation_interval=3,
        synch=True,  # else a quick trial may end before the others have reported
        hyperparam_mutations={"lr": tune.uniform(0, 1)},
    )
    analysis = ran(
        tmp_path, source, {"lr": tune.grid_search([0.01, 0.02, 0.5, 1.0])}, scheduler=pbt, max_concurrent_trials=4,
        resources_per_trial={"cpu": 0.25},
    )  # fmt: skip
    last = [trial.last_result["x"] for trial in analysis.trials]
    assert all(trial.status == "TERMINATED" for trial in analysis.trials)
    assert min(last) > 1.0  # Alone, 12 steps of 0.01 lead to 0.12.
