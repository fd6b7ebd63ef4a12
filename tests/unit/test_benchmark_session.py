"""The list of all benchmarks whose figures depend on the machine: each command names a script and options that exist."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def session():
    spec = importlib.util.spec_from_file_location("benchmark_session", BENCHMARKS / "session.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_each_command_names_a_script_and_its_options(session):
    for name, one in session.MEASUREMENTS.items():
        script, *arguments = one.command.split()
        source = (BENCHMARKS / script).read_text("utf-8")
        strings = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
        for option in re.findall(r"--[a-z-]+", " ".join(arguments)):
            assert option in strings, f"{name}: {script} has no {option}"


def test_a_failure_is_kept_apart_and_measured_again(session, tmp_path, monkeypatch):
    monkeypatch.setitem(session.MEASUREMENTS, "broken", session.Measurement("own", "none.py"))
    path = tmp_path / "broken.txt"
    assert not session.measure("broken", [sys.executable, "-c", "import sys; sys.exit('no Ray')"], path)
    assert not path.exists()
    assert "exit code 1" in (failed := (tmp_path / "broken.failed").read_text())
    assert "no Ray" in failed
    assert session.measure("broken", [sys.executable, "-c", "print(42)"], path)
    assert path.read_text().startswith("$ python benchmarks/none.py\n# began ")
    assert path.read_text().endswith("\n42\n")


def test_a_command_that_takes_too_long_ends_with_all_that_it_started(session, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "PATIENCE_S", 1)
    monkeypatch.setattr(session, "GRACE_S", 1)
    monkeypatch.setitem(session.MEASUREMENTS, "long", session.Measurement("own", "none.py"))
    script = f"sleep 300 & echo $! > {tmp_path}/pid; wait"
    assert not session.measure("long", ["bash", "-c", script], tmp_path / "long.txt")
    assert "ended after 1 s" in (tmp_path / "long.failed").read_text()
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(int((tmp_path / "pid").read_text())).wait(10)


def test_bytecode_is_kept_while_measuring(session):
    assert "PYTHONDONTWRITEBYTECODE" not in session.ENVIRONMENT


def test_a_name_that_does_not_exist_is_an_error_with_all_names(tmp_path):
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "session.py", tmp_path, "ovehead"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "no measurement ovehead: choose among overhead, searchers" in done.stderr
