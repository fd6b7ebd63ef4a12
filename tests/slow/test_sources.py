"""Where a trainable may be defined: a module, a script, standard input, a notebook."""

import subprocess
import sys
import textwrap

import pytest

RUN = """
analysis = tune.run(train, config={"x": tune.grid_search([1, 2, 3])}, metric="score", mode="max",
                    storage_path="results", name="exp", verbose=0)
print("best", analysis.best_config, analysis.best_result["score"], len(analysis.trials))
"""

SCRIPT = """
import sys
from overtone import tune
import model_parts

print("the script runs")
FACTOR = 10


class Model:
    def score(self, x):
        return FACTOR * model_parts.double(x)


def helper(config):
    return Model().score(config["x"])


def train(config):
    tune.report({"score": helper(config), "argv": sys.argv[1:]})

"""

PARTS = """
import os

with open("imported.txt", "a") as log:
    log.write(f"{os.getpid()}\\n")


def double(x):
    return 2 * x
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model_parts.py").write_text(PARTS)
    return tmp_path


def python(folder, *arguments, stdin=None):
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, input=stdin, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_script_without_a_main_guard_runs_once(folder):
    (folder / "script.py").write_text(SCRIPT + RUN)
    output = python(folder, "script.py", "--flag")
    assert output.count("the script runs") == 1
    assert "best {'x': 3} 60 3" in output
    assert '"argv":["--flag"]' in (folder / "results/exp/journal.jsonl").read_text()
    # the module is imported by the driver and by the warm server, and not by each trial
    assert len((folder / "imported.txt").read_text().split()) == 2


def test_a_script_in_another_folder_finds_its_modules(folder):
    (folder / "sub").mkdir()
    (folder / "sub/script.py").write_text(SCRIPT + RUN)
    (folder / "model_parts.py").rename(folder / "sub/model_parts.py")
    assert "best {'x': 3} 60 3" in python(folder, "sub/script.py")


def test_a_module_with_a_main_guard(folder):
    guarded = "if __name__ == '__main__':\n" + textwrap.indent(RUN, "    ")
    (folder / "package").mkdir()
    (folder / "package/__init__.py").touch()
    (folder / "package/search.py").write_text(SCRIPT + guarded)
    assert "best {'x': 3} 60 3" in python(folder, "-m", "package.search")


def test_a_function_of_an_imported_module(folder):
    (folder / "trainables.py").write_text(SCRIPT)
    (folder / "script.py").write_text("from overtone import tune\nfrom trainables import train\n" + RUN)
    output = python(folder, "script.py")
    assert "best {'x': 3} 60 3" in output
    assert output.count("the script runs") == 1  # what the server imports again prints nothing


def test_a_module_that_searches_when_it_is_imported(folder):
    (folder / "search.py").write_text(SCRIPT + RUN)
    output = python(folder, "-c", "import search")
    assert "best {'x': 3} 60 3" in output
    assert output.count("the script runs") == 1


def test_a_module_that_would_search_again_in_the_processes_of_its_trials(folder):
    (folder / "search.py").write_text(SCRIPT + RUN)
    again = """
try:
    tune.run(search.train, config={"x": 1}, storage_path="results", verbose=0)
except tune.TuneError as error:
    print("told:", error)
"""
    output = python(folder, "-c", f"import search\nfrom overtone import tune\n{again}")
    assert "told: 1 of 1 trials failed" in output
    assert "starts a search when it is imported" in output


def test_standard_input(folder):
    assert "best {'x': 3} 60 3" in python(folder, "-", stdin=SCRIPT + RUN)


def test_a_command(folder):
    assert "best {'x': 3} 60 3" in python(folder, "-c", SCRIPT + RUN)


def test_a_class_in_a_script(folder):
    (folder / "script.py").write_text(
        textwrap.dedent("""
        import pickle
        from dataclasses import dataclass
        from pathlib import Path
        from overtone import tune

        @dataclass
        class State:
            total: int = 0

        class Base(tune.Trainable):
            def setup(self, config):
                super().setup(config)
                self.state = State()

            def save_checkpoint(self, folder):
                Path(folder, "state.pkl").write_bytes(pickle.dumps(self.state))

            def load_checkpoint(self, folder):
                self.state = pickle.loads(Path(folder, "state.pkl").read_bytes())

        class Model(Base):
            def step(self):
                self.state.total += self.config["x"]
                return {"score": self.state.total}

        analysis = tune.run(Model, config={"x": tune.grid_search([1, 2])}, stop={"training_iteration": 3},
                            checkpoint_at_end=True, metric="score", mode="max", storage_path="results")
        with analysis.best_checkpoint.as_directory() as found:
            print("best", analysis.best_config, pickle.loads(Path(found, "state.pkl").read_bytes()))
        """)
    )
    assert "best {'x': 2} State(total=6)" in python(folder, "script.py")


def test_a_notebook(folder):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = [
        "from overtone import tune\nimport model_parts",
        "FACTOR = 10\ndef helper(config):\n    return FACTOR * model_parts.double(config['x'])",
        "def train(config):\n    print('hello from', config['x'])\n    tune.report(score=helper(config))",
        RUN.replace(", verbose=0", ""),
        "analysis.best_config, len(analysis.results_df)",
        textwrap.dedent("""
        class Model(tune.Trainable):
            def step(self):
                return {"score": helper(self.config), "done": True}
        results = tune.Tuner(Model, param_space={"x": tune.grid_search([1, 2])},
                             tune_config=tune.TuneConfig(metric="score", mode="max"),
                             run_config=tune.RunConfig(storage_path="results", verbose=1)).fit()
        results.get_best_result().metrics["score"]
        """),
        "FACTOR = 100  # run again after a change",
        RUN.replace('"exp"', '"again"'),
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    client = nbclient.NotebookClient(
        book, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    outputs = [shown(cell) for cell in book.cells]
    assert "best {'x': 3} 60 3" in outputs[3]
    assert outputs[3].count("hello from 2") == 1
    assert "({'x': 3}, 3)" in outputs[4]
    assert "40" in outputs[5]
    assert "best {'x': 3} 600 3" in outputs[7]


def shown(cell):
    """The text that a notebook's cell has put out."""
    found = []
    for output in cell.get("outputs", ()):
        found.append(output.get("text", "") or output.get("data", {}).get("text/plain", ""))
    return "".join(found)
