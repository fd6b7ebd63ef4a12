from __future__ import annotations

import shutil
import subprocess

import pytest

from overtone.cli.arguments import COMMANDS
from overtone.cli.commands.completion import commands


def test_all_commands_and_options_are_completed(overtone):
    for shell in ("bash", "zsh", "fish"):
        text = overtone("completion", shell).out
        for one in commands():
            assert one.name in text
            for option in one.options:
                assert all(name.lstrip("-") in text for name in option.names)


def test_what_options_take():
    found = {one.name: one for one in commands()}
    takes = {name: option.takes for option in found["export"].options for name in option.names}
    assert takes["--format"] == "csv json parquet"
    assert (takes["-o"], takes["--dir"], takes["--trials"]) == ("file", "dir", "")
    assert (found["show"].first, found["ls"].first, found["completion"].first) == (
        "experiment", "dir", "bash fish zsh",
    )  # fmt: skip
    assert list(found) == list(COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_understands_it(overtone, tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(overtone("completion", shell).out)
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["wh"], ["why", "whatif"]),
        (["show", "se"], ["search"]),
        (["show", "--dir", "HOME/overtone_results", "se"], ["search"]),
        (["best", "search", "--scope", "last-"], ["last-5-avg", "last-10-avg"]),
        (["export", "search", "--f"], ["--format"]),
        (["completion", ""], ["bash", "fish", "zsh"]),
    ],
)
def test_bash_completes(overtone, search, home, tmp_path, words, found):
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    script = tmp_path / "script"
    script.write_text(overtone("completion", "bash").out)
    line = " ".join(f'"{word.replace("HOME", str(home))}"' for word in ["overtone", *words])
    program = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _overtone; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(
        ["bash", "--norc", "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert done.stdout.split() == found


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["show", "my"], r"my\ \`exp\`\$\(x\)"),
        (["show", r"my\ "], r"my\ \`exp\`\$\(x\)"),
        (["ls", "a folder/be"], r"a\ folder/below/"),
        (["ls", "~/overtone_r"], "~/overtone_results/"),
    ],
)
def test_bash_runs_nothing_that_stands_in_names(overtone, home, tmp_path, words, found):
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    for folder in (home / "overtone_results" / "my `exp`$(x)", tmp_path / "a folder" / "below"):
        folder.mkdir(parents=True)
        (folder / "journal.jsonl").touch()
    script = tmp_path / "script"
    script.write_text(overtone("completion", "bash").out)
    line = " ".join(f"'{word}'" for word in ["overtone", *words])
    program = (
        f'source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _overtone; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == (f"{found}\n", "")
