from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overtone.cli.arguments import COMMANDS

pytest.importorskip("argcomplete")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_understands_it(overtone, tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(overtone("completion", shell).out)
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def completed(overtone, home, tmp_path):
    """What bash completes a command line to, whose words are quoted as a user types them."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    (tmp_path / "script").write_text(overtone("completion", "bash").out)
    program = tmp_path / "bin" / "overtone"
    program.parent.mkdir()
    source = Path(__file__).parents[3] / "src"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(source)!r})\n"
        "from overtone.cli import main\nsys.exit(main())\n"
    )
    program.chmod(0o755)

    def completed(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in ("overtone", *words))
        text = " ".join(("overtone", *words))
        asks = (
            f"PATH={program.parent}:$PATH; source {tmp_path}/script; COMP_WORDS=({line}); "
            f"COMP_CWORD={len(words)}; COMP_LINE='{text}'; COMP_POINT={len(text)}; COMP_TYPE=9; "
            "[[ $(complete -p overtone) =~ -F\\ ([^ ]*) ]]; ${BASH_REMATCH[1]} overtone; "
            "printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(
            ["bash", "--norc", "-c", asks], capture_output=True, text=True, timeout=60, cwd=tmp_path
        )
        assert done.stderr == ""
        return [line.rstrip() for line in done.stdout.splitlines()]

    return completed


def test_bash_completes(completed, search, home):
    assert set(completed("")) == set(COMMANDS)
    assert completed("wh") == ["why", "whatif"]
    assert completed("show", "se") == ["search"]
    assert completed("show", "--dir", f"{home}/overtone_results", "se") == ["search"]
    assert completed("show", "--dir", "/nothing/there", "se") == [""]
    assert completed("best", "search", "--scope", "last-") == ["last-5-avg", "last-10-avg"]
    assert completed("export", "search", "--f") == ["--format"]
    assert completed("completion", "") == ["bash", "fish", "zsh"]


def test_bash_runs_nothing_that_stands_in_names(completed, home, tmp_path):
    for folder in (home / "overtone_results" / "my `exp`$(x)", tmp_path / "a folder" / "below"):
        folder.mkdir(parents=True)
        (folder / "journal.jsonl").touch()
    assert completed("show", "my") == [r"my\ \`exp\`\$\(x\)"]
    assert completed("show", r"my\ ") == [r"my\ \`exp\`\$\(x\)"]
    assert completed("ls", r"a\ folder/be") == [r"a\ folder/below/"]
