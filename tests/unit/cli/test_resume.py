from __future__ import annotations

import json
import os
import sys
import zlib
from pathlib import Path

import pytest

from overtone.cli.arguments import parsed
from overtone.cli.commands import resume
from overtone.cli.exit_codes import NotFoundError
from overtone.cli.recorded_command import again
from overtone.errors import StorageError
from overtone.journal.newest_parts import newest_driver


class Executed(Exception):
    """What was about to be run."""


@pytest.fixture
def script(tmp_path) -> Path:
    path = tmp_path / "work" / "train.py"
    path.parent.mkdir()
    path.write_text("")
    return path


@pytest.fixture
def cut_off(tell, script, monkeypatch):
    """An experiment whose driver died."""
    monkeypatch.chdir(script.parent)
    told = tell("cut off", None, [sys.executable, "train.py", "--lr", "0.1"], limits={"total": 3})
    told.run({}, 1.0, 0.5)
    told.start(told.add({}))
    return told.close(finished=False)


def executed(*argv: object) -> tuple[str, list[str], dict[str, str], str]:
    """What `overtone resume` becomes: the program, its arguments, its environment and its directory."""

    def become(*call):
        raise Executed(*call, os.getcwd())

    with pytest.raises(Executed) as caught:
        resume.run(parsed(["resume", *map(str, argv)]), become)
    return caught.value.args


def test_the_recorded_command_is_run_again_where_it_ran(cut_off, script, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    program, argv, environment, directory = executed("cut off")
    assert (program, argv) == (sys.executable, [sys.executable, "train.py", "--lr", "0.1"])
    assert environment["OVERTONE_RESUME"] == str(cut_off)
    assert environment["HOME"] == os.environ["HOME"]
    assert directory == str(script.parent)
    assert capsys.readouterr().out == (
        "resuming cut off: 2 of 3 trials (1 done, 1 cut off), 2 results\n"
        f"in {script.parent}: {sys.executable} train.py --lr 0.1\n"
    )


def test_the_newest_driver_counts(tell, script, monkeypatch):
    monkeypatch.chdir(script.parent)
    told = tell("exp", None, ["python", "gone.py"])
    told.writer.note("driver", {"command": [sys.executable, "train.py"], "directory": str(script.parent)})
    told.close(finished=False)
    assert newest_driver(told.journal)["command"] == [sys.executable, "train.py"]
    assert newest_driver(told.journal)["hostname"]
    assert executed("exp")[1] == [sys.executable, "train.py"]


def test_nothing_is_run_in_a_dry_run(cut_off, overtone):
    done = overtone("resume", "cut off", "--dry-run", "--json")
    assert done.code == 0
    assert done.data["command"] == [sys.executable, "train.py", "--lr", "0.1"]
    assert done.data["path"] == str(cut_off)
    assert done.data["experiment"]["state"] == "crashed"


def test_another_command(cut_off, script):
    program, argv, environment, directory = executed("cut off", "--", "python", "other.py", "--json")
    assert (program, argv) == ("python", ["python", "other.py", "--json"])
    assert environment["OVERTONE_RESUME"] == str(cut_off)
    assert directory == os.getcwd()


def test_one_that_runs_is_left_alone(tell, overtone):
    told = tell()
    told.write()
    done = overtone("resume", "exp")
    assert done.code == 1
    assert f"is running: process {os.getpid()} on" in done.err


def test_one_that_is_finished_is_run_again_only_by_force(tell, script, monkeypatch, overtone):
    monkeypatch.chdir(script.parent)
    told = tell("exp", None, [sys.executable, "train.py"])
    told.run({}, 1.0)
    told.close()
    done = overtone("resume", "exp")
    assert done.code == 1
    assert "--force" in done.err
    assert executed("exp", "--force")[1] == [sys.executable, "train.py"]


def test_a_command_that_somebody_else_wrote_down_is_not_run(cut_off, overtone, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    done = overtone("resume", "cut off")
    assert done.code == 1
    assert "belongs to another user" in done.err
    assert "train.py --lr 0.1; add --yes" in done.err
    assert executed("cut off", "--yes")[1][1] == "train.py"


def test_what_is_no_python_is_not_run(tell, script, overtone, monkeypatch):
    monkeypatch.chdir(script.parent)
    tell("exp", None, ["/bin/sh", "train.py"]).close(finished=False)
    done = overtone("resume", "exp")
    assert done.code == 1
    assert "'/bin/sh' is not a Python" in done.err


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["python", "-"], "read from standard input"),
        (["python", ""], "typed into Python"),
        (["python", "-c"], "python -c"),
        (["python", "/x/ipykernel_launcher.py", "-f", "k.json"], "in a notebook"),
        (["python", "/usr/bin/ipython"], "in IPython"),
        (["python"], "no command is on record"),
        ("python train.py", "no command is on record"),
        (["python", "gone.py"], "gone.py' is not there"),
    ],
)
def test_what_cannot_be_run_again_says_what_to_do(tmp_path, command, says):
    with pytest.raises(NotFoundError, match="Tuner.restore") as caught:
        again({"command": command, "directory": str(tmp_path)}, "/results/exp")
    assert says in str(caught.value)
    assert 'name="exp", resume=True' in str(caught.value)
    assert "overtone resume /results/exp -- python my_script.py" in str(caught.value)


def test_a_directory_that_is_gone(tmp_path):
    with pytest.raises(NotFoundError, match="which is not there"):
        again({"command": ["python", "train.py"], "directory": str(tmp_path / "gone")}, "/results/exp")


def test_a_python_that_is_gone_is_replaced_by_this_one(script):
    found = again(
        {"command": ["/gone/bin/python", "train.py"], "directory": str(script.parent)}, "/results/exp"
    )
    assert found.command == (sys.executable, "train.py")
    assert found.notes == (f"/gone/bin/python is not there: taking {sys.executable}",)


def test_a_module_and_options_of_python_are_taken_as_they_were(script):
    for given in (["-m", "overtone.as_ray", "train.py", "-x"], ["-W", "error", "-X", "dev", "-u", "train.py", "-x"]):
        facts = {"command": [sys.executable, *given], "directory": str(script.parent)}
        assert again(facts, "/results/exp").command == (sys.executable, *given)
    with pytest.raises(NotFoundError, match="its code is not on record"):
        again({"command": [sys.executable, "-u", "-c", "1"], "directory": str(script.parent)}, "/results/exp")


def test_a_module_is_run_as_a_module(tmp_path):
    package = tmp_path / "lab" / "nets"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    for name in ("train.py", "__main__.py"):
        (package / name).write_text("")
    facts = {"directory": str(tmp_path)}
    modules = [
        again({**facts, "command": [sys.executable, str(package / name), "1"]}, "exp").command[1:]
        for name in ("train.py", "__main__.py")
    ]
    assert modules == [("-m", "lab.nets.train", "1"), ("-m", "lab.nets", "1")]
    plain = again({**facts, "command": [sys.executable, "lab/nets/train.py"]}, "exp")
    assert plain.command[1:] == ("lab/nets/train.py",)


def test_a_journal_that_holds_nothing(tmp_path):
    (tmp_path / "journal.jsonl").write_bytes(b'{"n":1,"e":"head')
    with pytest.raises(StorageError, match="start anew"):
        newest_driver(tmp_path / "journal.jsonl")


def test_a_header_of_a_hostile_folder_is_no_traceback(cut_off, overtone):
    path = cut_off / "journal.jsonl"
    lines = path.read_bytes().split(b"\n")
    document = json.loads(lines[0])
    del document["crc"]
    document.update(command={"a": 1}, directory=7, hostname=None, parts=[], wall="now")
    body = json.dumps(document, separators=(",", ":"))[:-1].encode()
    lines[0] = b'%b,"crc":"%08x"}' % (body, zlib.crc32(body))
    path.write_bytes(b"\n".join(lines))
    done = overtone("resume", "cut off")
    assert done.code == 3
    assert "which Overtone does not write" in done.err
