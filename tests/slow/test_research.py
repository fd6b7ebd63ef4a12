"""A comparison in real processes, Ctrl-C during one, and the report as it is drawn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil

from overtone import tune
from overtone.research import Problem, compare, plot_incumbents, report
from overtone.testing.engine_disasters import is_gone

HOSTILE = '<script>alert("1")</script>&$x_1$'


def curve(config, t):
    return {"loss": 1 / t} if t <= 2 else None


def leave(config, t):
    print("not an answer")
    os._exit(7)


def test_processes_search_and_one_that_dies_is_replaced():
    problems = {"dies": Problem(leave, "loss", "min"), "lives": Problem(curve, "loss", "min", num_samples=2)}
    frame = compare("fifo", problems=problems, seeds=2, processes=1, progress=False)
    ends = frame[frame["is_end"]]
    assert ends[["problem", "seed", "error"]].values.tolist() == [
        ["dies", 0, "its process died: exit code 7"], ["dies", 1, "its process died: exit code 7"],
        ["lives", 0, ""], ["lives", 1, ""],
    ]  # fmt: skip
    assert frame.loc[frame["problem"] == "lives", "value"].min() == 0.5


def test_the_report_is_drawn_and_loads_nothing(tmp_path):
    def curve(config, t):
        return {"loss_$": config["x"] + 1 / t} if t < 6 else None

    space = {"x": tune.uniform(0, 1)}
    problems = [
        Problem(curve, "loss_$", "min", HOSTILE + name, space=space, num_samples=5, target=1.0)
        for name in "ab"
    ]
    schedulers = {"fifo": "fifo", HOSTILE: "asha", "third": "median"}
    frame = compare(schedulers, problems=problems, seeds=3, processes=0, progress=False)
    text = report(frame, tmp_path / "report.html", title=HOSTILE).read_text("utf-8")
    assert text.count('src="data:image/svg+xml;base64,') == 4
    assert text.count("<script") == 0
    assert text.count("src=") + text.count("href=") == 4


def test_a_legend_of_many_methods_is_as_wide_as_its_figure():
    problem = Problem(curve, "loss", "min", num_samples=2)
    schedulers = {f"a long name, number {i}": "fifo" for i in range(7)}
    figure = plot_incumbents(compare(schedulers, problems=[problem], seeds=1, processes=0, progress=False))
    figure.draw_without_rendering()
    drawn = figure.legends[0].get_window_extent()
    assert drawn.x0 >= 0
    assert drawn.x1 <= figure.bbox.width


SCRIPT = """
import sys, time
from overtone.research import Problem, compare

def curve(config, t):
    time.sleep(0.02)
    with open("calls", "a") as file:
        file.write(".")
    return {"loss": 1 / t} if t <= 3 else None

problem = Problem(curve, "loss", "min", num_samples=4)
frame = compare("fifo", problems=[problem], seeds=500, processes=2)
print("rows", len(frame), frame.attrs["is_complete"], flush=True)
"""


def begun(folder, driver):
    """The processes of a comparison, once some of its searches, of 16 calls each, are done."""
    calls, deadline = folder / "calls", time.monotonic() + 90
    while not calls.exists() or calls.stat().st_size < 100:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return driver.children()


def test_ctrl_c_ends_every_process_and_keeps_what_is_done(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    started = subprocess.Popen(
        [sys.executable, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    one = psutil.Process(started.pid)
    children = begun(tmp_path, one)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert out.split()[0] == "rows"
    assert out.split()[2] == "False"
    assert "interrupted:" in err
    assert "Traceback" not in err
    assert all(is_gone(child.pid) for child in children)


def test_processes_end_with_the_one_that_started_them(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    started = subprocess.Popen([sys.executable, str(file)], stderr=subprocess.DEVNULL, cwd=tmp_path)
    one = psutil.Process(started.pid)
    children = begun(tmp_path, one)
    started.kill()
    started.wait()
    assert len(children) >= 2
    assert all(is_gone(one.pid) for one in children)
