"""What a script shows of an error that it does not catch."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from overtone import tune, uncaught
from overtone.errors import OvertoneError, TuneError
from overtone.uncaught import MOST_KEPT, shown

SCRIPT = """
import sys
from overtone import tune

if sys.argv[1] == "first":
    tune.schedulers.ASHAScheduler(max_tt=3)

def train(config):
    tune.report({"loss": 1})

class Bad(tune.Callback):
    def on_trial_result(self, iteration, trials, trial, result, **info):
        return 1 / 0

def search(which):
    options = {"verbose": 0, "engine": "inline", "storage_path": sys.argv[2]}
    if which == "name":
        tune.run(train, search_alg="tpee", **options)
    elif which == "keyword":
        tune.TuneConfig(num_sample=3)
    elif which == "dataclass":
        tune.Tuner(train, tune_config=tune.TuneConfig(mode=3, metric="a"))
    elif which == "callback":
        tune.run(train, callbacks=[Bad()], **options)
    elif which == "analysis":
        tune.ExperimentAnalysis("nowhere")
    elif which == "own":
        raise ValueError("mine")
    elif which == "hook":
        sys.excepthook = lambda kind, error, traceback: print("my hook:", kind.__name__)
        tune.run(train, search_alg="tpee", **options)

search(sys.argv[1])
"""


@pytest.fixture
def script(tmp_path):
    """Return a function that runs the script, and returns what it wrote to stderr or stdout."""
    path = tmp_path / "search.py"
    path.write_text(SCRIPT)

    def run(which, **environment):
        source = str(Path(tune.__file__).parents[2])
        given = {**os.environ, "PYTHONPATH": source, "XDG_CACHE_HOME": str(tmp_path / "cache"), **environment}
        command = [sys.executable, str(path), which, str(tmp_path / "results")]
        done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=120)
        assert done.returncode == 1
        return done.stderr or done.stdout

    return run


def frames(text):
    return re.findall(r'  File "([^"]+)", line \d+, in (\S+)', text)


def test_the_message_comes_first_and_then_the_users_lines(script, tmp_path):
    text = script("name")
    assert text.startswith(
        "overtone.errors.ArgumentError: there is no searcher 'tpee'; did you mean 'optuna'"
    )
    assert [(Path(file).name, where) for file, where in frames(text)] == [
        ("search.py", "<module>"),
        ("search.py", "search"),
    ]
    last = text.rstrip().rpartition("\n")[2]
    (whole,) = (tmp_path / "cache" / "overtone" / "tracebacks").iterdir()
    assert last == f"The whole traceback is in {whole}"
    assert "named.py" in whole.read_text()
    assert "Traceback (most recent call last):" in whole.read_text()


def test_the_users_own_exception_is_shown_as_the_cause(script):
    text = script("callback")
    assert text.startswith("overtone.errors.CallbackError: Bad.on_trial_result raised ZeroDivisionError")
    caused, called = text.split("Caused by:\n")[1].split("\n\n")
    assert frames(caused)[-1][1] == "on_trial_result"
    assert "return 1 / 0" in caused
    assert not any("overtone" in file for file, _ in frames(caused + called))


def test_an_unknown_keyword_is_the_users_line(script):
    text = script("keyword")
    assert "did you mean 'num_samples'?" in text.split("\n")[0]
    assert len(frames(text)) == 2


def test_other_exceptions_and_hooks_stay(script):
    assert script("own").startswith("Traceback (most recent call last):")
    assert script("hook") == "my hook: ArgumentError\n"


def test_a_variable_asks_for_the_whole_traceback(script):
    text = script("name", OVERTONE_TRACEBACK="1")
    assert text.startswith("Traceback (most recent call last):")
    assert any("named.py" in file for file, _ in frames(text))


def test_where_the_cache_cannot_be_written_the_variable_is_named(script, tmp_path):
    (tmp_path / "cache").write_text("a file")
    text = script("name")
    assert text.startswith("overtone.errors.ArgumentError: ")
    assert text.splitlines()[-1] == "The whole traceback is shown with OVERTONE_TRACEBACK=1"


def test_errors_of_an_analysis_are_short_where_nothing_ran(script):
    text = script("analysis")
    assert text.startswith("overtone.errors.StorageError: there is no experiment at 'nowhere'")
    assert len(frames(text)) == 2


def test_the_frames_of_a_notebook_are_left_out():
    namespace = {}
    cell = "def run_code(f):\n    f()\n"
    exec(compile(cell, "/site-packages/IPython/core/interactiveshell.py", "exec"), namespace)
    with pytest.raises(TuneError) as raised:
        namespace["run_code"](lambda: tune.ExperimentAnalysis("nowhere"))
    assert "run_code" not in [where for _, where in frames("\n".join(shown(raised.value)))]


def test_old_files_are_deleted(script, tmp_path):
    folder = tmp_path / "cache" / "overtone" / "tracebacks"
    folder.mkdir(parents=True)
    for number in range(MOST_KEPT + 5):
        (folder / f"2020-01-01_00-00-{number:02d}_1.txt").touch()
    script("name")
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == MOST_KEPT
    assert names[0] == "2020-01-01_00-00-06_1.txt"
    assert not names[-1].startswith("2020")


def test_notebooks_show_the_same_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    try:
        tune.run(print, search_alg="tpee", verbose=0)
    except TuneError as error:
        lines = error._render_traceback_()
        assert lines[:-1] == shown(error)
        assert lines[0].startswith("overtone.errors.ArgumentError: there is no searcher")
        assert [where for _, where in frames("\n".join(lines))] == ["test_notebooks_show_the_same_lines"]


def test_a_user_without_a_home_gets_the_whole_traceback(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        uncaught._kept(TuneError("x"))
    assert not list(tmp_path.iterdir())


def test_two_processes_may_delete_the_same_old_files(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = uncaught._kept(TuneError("x"))
    gone = [f"0000_{i}.txt" for i in range(MOST_KEPT)]
    monkeypatch.setattr(os, "listdir", lambda folder: [*gone, os.path.basename(first)])
    assert Path(uncaught._kept(TuneError("x"))).exists()


def test_frames_of_generated_constructors_are_left_out(script):
    assert [where for _, where in frames(script("dataclass"))] == ["<module>", "search"]


def test_a_notebook_names_the_file_or_shows_the_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(OvertoneError) as caught:
        tune.create_searcher("tpee")
    lines = caught.value._render_traceback_()
    assert lines[0].startswith("overtone.errors.ArgumentError: there is no searcher 'tpee'")
    assert "named.py" in Path(lines[-1].removeprefix("The whole traceback is in ")).read_text()
    monkeypatch.setenv("OVERTONE_TRACEBACK", "1")
    lines = caught.value._render_traceback_()
    assert lines[0] == "Traceback (most recent call last):"
    assert any("named.py" in line for line in lines)


def test_the_first_error_of_a_script_is_shown_so_as_well(script):
    text = script("first")
    assert text.startswith("overtone.errors.UsageError: ASHAScheduler() has no argument 'max_tt'")
    assert [where for _, where in frames(text)] == ["<module>"]


def test_an_interrupted_import_of_overtone_is_one_line(tmp_path):
    script = tmp_path / "search.py"
    code = """
        import sys

        class Interrupts:
            def find_spec(self, name, path=None, target=None):
                if name == sys.argv[1]:
                    raise KeyboardInterrupt

        sys.meta_path.insert(0, Interrupts())
        from overtone import tune

        tune.run(print, verbose=0)
    """
    script.write_text(dedent(code).lstrip())
    source = str(Path(tune.__file__).parents[2])

    def said(module, **environment):
        given = {**os.environ, "PYTHONPATH": source, **environment}
        command = [sys.executable, str(script), module]
        return subprocess.run(command, env=given, capture_output=True, text=True, timeout=120).stderr

    assert said("overtone.lazy").startswith("Traceback")  # before the hook
    assert said("overtone.tune.tune") == f"overtone: interrupted at {script}:11\n"
    assert said("overtone.run.execute") == f"overtone: interrupted at {script}:11\n"
    assert said("overtone.tune") == f"overtone: interrupted at {script}:9\n"
    assert said("overtone.tune", OVERTONE_TRACEBACK="1").startswith("Traceback")


def test_an_explained_interrupt_is_one_line_in_scripts_and_notebooks(monkeypatch, capsys):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    uncaught.install()
    error = uncaught.interrupted("to go on: overtone resume /results/exp")
    assert error._render_traceback_() == ["overtone: to go on: overtone resume /results/exp"]
    sys.excepthook(type(error), error, None)
    assert capsys.readouterr().err == "overtone: to go on: overtone resume /results/exp\n"
    assert str(error) == "to go on: overtone resume /results/exp"


def test_ctrl_c_while_another_library_is_imported_is_one_line(script, tmp_path):
    (tmp_path / "slow_library.py").write_text("raise KeyboardInterrupt")
    path = tmp_path / "search.py"
    path.write_text("from overtone import tune\nimport slow_library\n")
    given = {**os.environ, "PYTHONPATH": str(Path(tune.__file__).parents[2])}
    done = subprocess.run([sys.executable, str(path)], env=given, capture_output=True, text=True, timeout=120)
    assert done.stderr == f"overtone: interrupted at {path}:2\n"
