"""A run that shows itself in a notebook's kernel, with and without the extra."""

from __future__ import annotations

import json

import pytest

VIEW = "application/vnd.jupyter.widget-view+json"

START = """
import os, time
from overtone import tune

go = os.path.abspath("go")

def train(config):
    while not os.path.exists(go):
        time.sleep(0.01)
    for t in range(1, 6):
        tune.report({"loss": config["x"] ** 2 + 1 / t})

run = tune.start(train, config={"x": tune.uniform(0, 1)}, num_samples=6, metric="loss", mode="min",
                 storage_path="results", name="exp", verbose=0, seed=1)
run
"""
WAIT = """
open(go, "w").close()
analysis = run.wait()
from overtone.ui.widget import _widgets
for shown in _widgets.values():
    shown.widget.pushing.join(60)
"""


@pytest.fixture
def execute(tmp_path):
    """Execute cells in a kernel, and return the notebook as it is saved."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")

    def execute(*cells):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        resources = {"metadata": {"path": str(tmp_path)}}
        client = nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3", resources=resources)
        return client.execute()

    return execute


def states(notebook):
    return [
        one["state"]
        for one in notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    ]


def test_a_run_shows_itself_and_leaves_a_picture(execute):
    pytest.importorskip("anywidget", reason="needs the extra notebook")
    notebook = execute(START, "run", WAIT, "analysis")
    (first, first_still), (second, second_still), _, (last,) = (
        [output.data for output in cell.outputs if "data" in output] for cell in notebook.cells
    )
    assert first[VIEW]["model_id"] == second[VIEW]["model_id"]  # one widget with two displays
    assert first["text/html"] == ""
    for shown in (first_still, second_still):  # as it is at the end, though the run had just begun
        assert VIEW not in shown  # a display with a widget is an error in JupyterLab once its kernel has gone
        assert "6 trials (6 terminated)" in shown["text/html"]
        assert "data:image/svg+xml;base64," in shown["text/html"]
        assert len(json.dumps(shown)) < 300_000
    assert "<table" in last["text/html"]  # an analysis stays a table
    assert VIEW not in last
    (state,) = [one for one in states(notebook) if "overview" in one]
    assert f'data-overtone-still="{state["still"]}"' in first_still["text/html"]
    overview = json.loads(state["overview"])
    assert (overview["state"], overview["trials"], overview["id"]) == ("finished", 6, "exp")


def test_questions_of_the_page_are_answered(execute):
    pytest.importorskip("anywidget", reason="needs the extra notebook")
    ask = """
shown = next(iter(_widgets.values()))
answers = []
shown.widget.send = lambda content, buffers=None: answers.append((content, [len(one) for one in buffers or []]))
trial = run.analysis.trials[0].trial_id
for number, (name, args) in enumerate([("trial", [trial]), ("plot", ["optimization_history"]),
                                       ("act", ["stop"]), ("trial", ["gone"]), ("rows", [[0]])]):
    shown.widget._ask(None, {"id": number, "ask": name, "args": args, "options": {}}, [])
shown.widget._answering.shutdown(wait=True)
import json
print(json.dumps([[content.get("answer", content.get("error")), sizes] for content, sizes in answers]))
"""
    notebook = execute(START, WAIT, ask)
    trial, plot, act, gone, rows = json.loads(notebook.cells[-1].outputs[0].text)
    assert trial[0]["status"] == "TERMINATED"
    assert plot[1][0] > 100
    assert act[0] == "'act' is not a question"
    assert "gone" in gone[0]
    assert rows[0]["rows"] == [0]


def test_without_the_extra_a_run_is_a_table(execute):
    notebook = execute(
        "import sys; sys.modules['anywidget'] = None",
        START,
        "open(go, 'w').close()\nanalysis = run.wait()",
        "run",
    )
    data = notebook.cells[-1].outputs[0].data
    assert VIEW not in data
    assert "<table" in data["text/html"]
