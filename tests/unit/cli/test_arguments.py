from __future__ import annotations

import pytest

from overtone.cli.arguments import parsed


def test_what_comes_after_the_dashes_is_kept_as_it_is():
    args = parsed(["resume", "exp", "--dry-run", "--", "python", "--", "-n", "3"])
    assert (args.experiment, args.dry_run, args.rest) == ("exp", True, ["python", "--", "-n", "3"])


def test_options_may_come_first():
    args = parsed(["--traceback", "show", "-n", "3", "exp"])
    assert (args.command, args.experiment, args.n, args.traceback) == ("show", "exp", 3, True)


@pytest.mark.parametrize("text", ["-1", "x", "1.5", ""])
def test_counts_are_whole_numbers_from_0(text, capsys):
    with pytest.raises(SystemExit) as caught:
        parsed(["ls", "-n", text])
    assert caught.value.code == 2
    assert "is not a number of 0 or more" in capsys.readouterr().err


def test_the_folder_of_names_stands_before_or_after_a_verb():
    for words in (
        ["exp", "--dir", "d", "stop"],
        ["exp", "stop", "--dir", "d"],
        ["exp", "stop", "7", "--dir", "d"],
    ):
        assert parsed(["ctl", *words]).dir == "d"
    assert parsed(["ctl", "exp", "stop"]).dir is None


def test_an_unknown_command_is_answered_with_a_similar_one(capsys):
    with pytest.raises(SystemExit):
        parsed(["shwo", "exp"])
    assert "did you mean 'show'?" in capsys.readouterr().err
