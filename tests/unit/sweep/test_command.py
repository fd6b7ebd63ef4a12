"""Errors of `overtone sweep` before a trial begins."""

import pytest

from overtone.cli import main


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("missing.json",), "cannot be read"),
        (("s.json", "--", "python", "nothing.py", "{lr}"), "'nothing.py' is not there"),
        (("s.json", "--", "no-such-program", "{lr}"), "neither on the PATH"),
        (("s.json", "--", "python", "train.py", "--lr", "{rl}"), "{rl} is not a parameter"),
        (("s.json",), "no program to run"),
        (("s.json", "--pattern", "x(", "--", "python", "train.py"), "not a regular expression"),
        (("s.json", "--tensorboard", "runs", "--", "python", "train.py"), "{trial_dir}/events"),
        ((), "no sweep file"),
        (("--agent=nowhere",), "no experiment"),
    ],
)
def test_errors_say_what_to_do(tmp_path, monkeypatch, capsys, words, error):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("")
    (tmp_path / "s.json").write_text('{"parameters": {"lr": {"min": 0, "max": 1.0}}, "run_cap": 1}')
    assert main(["sweep", *words[:1], "--dir", "out", *words[1:]]) == 1
    assert error in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
