from __future__ import annotations

import json
import sys
import zlib

import pytest

from overtone import __version__
from overtone.cli import main
from overtone.cli.arguments import COMMANDS

READING = ("show", "best", "export", "tail")


def test_help_names_all_commands_and_exit_codes(overtone):
    done = overtone("--help")
    assert done.code == 0
    assert all(f"    {name}" in done.out for name in COMMANDS)
    assert "exit codes:" in done.out
    assert "130" in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(overtone, command):
    done = overtone(command, "--help")
    assert (done.code, done.out.split()[:3]) == (0, ["usage:", "overtone", command])


def test_version(overtone):
    assert overtone("--version") == (0, f"overtone {__version__}\n", "")


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["show"], ["ls", "--nope"], ["show", "x", "-n", "-1"]])
def test_a_wrong_command_line_is_code_2(overtone, argv):
    done = overtone(*argv)
    assert (done.code, done.out) == (2, "")
    assert "usage: overtone" in done.err


@pytest.mark.parametrize("command", READING)
def test_what_is_not_there_is_code_1_and_one_line(overtone, command):
    done = overtone(command, "nothing")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("overtone: there is no experiment 'nothing'")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("command", READING)
def test_a_damaged_journal_is_code_3_and_its_line_is_named(overtone, search, command):
    path = search / "journal.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[3] = lines[3].replace(b"358bb", b"358bc", 1)
    path.write_bytes(b"\n".join(lines))
    done = overtone(command, "search")
    assert done.code == 3
    assert "line 4" in done.err
    assert "Traceback" not in done.err
    assert done.err.count("\n") == 1


def resealed(line: bytes, **changes: object) -> bytes:
    document = json.loads(line)
    del document["crc"]
    body = json.dumps({**document, **changes}, separators=(",", ":"))[:-1].encode()
    return b'%b,"crc":"%08x"}' % (body, zlib.crc32(body))


@pytest.mark.parametrize("command", [*READING, "why"])
@pytest.mark.parametrize(
    "changes",
    [
        {"choices": [{"c": "moved", "trial_id": "nobody", "status": "RUNNING", "attempt": 0}]},
        {"choices": 7},
        {"time": "soon"},
        {"e": "a new one"},
    ],
)
def test_a_journal_that_makes_no_sense_is_code_3_without_a_traceback(overtone, search, command, changes):
    path = search / "journal.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[1] = resealed(lines[1], **changes)
    path.write_bytes(b"\n".join(lines))
    done = overtone(command, "search", *["0"] * (command == "why"))
    assert done.code in (0, 3)
    assert "Traceback" not in done.err
    assert (done.code == 0) == (done.err == "")


def test_an_unforeseen_error_shows_its_traceback_where_it_is_asked_for(overtone, search, monkeypatch):
    def fail(*_, **__):
        raise KeyError("a field")

    monkeypatch.setattr("overtone.reading.summary_cache.SummaryCache.summary", fail)
    done = overtone("show", "search")
    assert done.code == 3
    assert "KeyError: 'a field'); overtone --traceback show ... shows where" in done.err
    with pytest.raises(KeyError):
        main(["--traceback", "show", "search"])


def test_a_folder_that_may_not_be_read_is_code_1(overtone, search, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", "there")

    monkeypatch.setattr("overtone.reading.summary_cache.SummaryCache.summary", refuse)
    done = overtone("show", "search")
    assert (done.code, done.err) == (1, "overtone: there: Permission denied\n")


def test_ctrl_c_is_code_130_and_quiet(overtone, search, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("overtone.reading.summary_cache.SummaryCache.summary", interrupt)
    assert overtone("show", "search") == (130, "", "")


def test_ctrl_c_before_the_command_is_known_is_quiet_too(overtone, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("overtone.cli.arguments.parsed", interrupt)
    assert overtone("ui") == (130, "", "")


def test_a_reader_that_stops_reading_is_no_error(search, monkeypatch, capsys):
    def closed(*_):
        raise BrokenPipeError

    monkeypatch.setattr(sys.stdout, "write", closed)
    assert main(["show", "search"]) == 141
    assert capsys.readouterr().err == ""


HOSTILE = "\x1b[31mred\x1b[0m\x07\r\n\u202eback\u2066<b>"


@pytest.mark.parametrize("command", [*READING, "why", "ls"])
def test_hostile_text_is_shown_spelled_out(overtone, tell, command):
    told = tell(HOSTILE.replace("/", ""), name=HOSTILE, metric=[HOSTILE], mode=["max"])
    trial = told.add({HOSTILE: HOSTILE, "x": {"__repr__": HOSTILE}})
    told.start(trial)
    told.report(trial, **{HOSTILE: 1.0})
    told.note(HOSTILE)
    told.fail(trial, HOSTILE, HOSTILE)
    told.close()
    argv = {"ls": [], "why": [told.folder, 0], "export": [told.folder, "--format", "json"]}
    done = overtone(command, *argv.get(command, [told.folder]))
    assert done.code == 0
    text = (done.out + done.err).replace("\n", "")
    assert text.isprintable()
    assert "\u202e" not in text


def test_nothing_in_the_folder_is_unpickled(overtone, search, monkeypatch):
    import pickle

    bomb = b"cos\nsystem\n(S'echo no'\ntR."
    for name in ("searcher.pkl", "tuner.pkl", "358bb_00000/checkpoint_000001/state.pkl"):
        (search / name).parent.mkdir(parents=True, exist_ok=True)
        (search / name).write_bytes(bomb)

    def refuse(*_, **__):
        raise AssertionError("something was unpickled")

    monkeypatch.setattr(pickle, "load", refuse)
    monkeypatch.setattr(pickle, "loads", refuse)
    for argv in (
        ["ls"],
        ["show", search],
        ["show", search, 0],
        ["best", search],
        ["why", search, 1],
        ["tail", search],
    ):
        assert overtone(*argv).code == 0
