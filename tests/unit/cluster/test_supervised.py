"""What cron runs at each start of the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from overtone.cluster.supervised import start_at_boot, with_line

CRONTAB = """#!/bin/sh
case "$1" in
  -l) if [ -e table ]; then cat table; else echo "${{SAYS:-no crontab for me}}" >&2; exit 1; fi;;
  -) [ -z "$FULL" ] || {{ echo "disk full" >&2; exit 1; }}; cat > table;;
esac
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The table of a small crontab on the PATH."""
    (tmp_path / "crontab").write_text(CRONTAB.format())
    (tmp_path / "crontab").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "table"


def test_cron_runs_the_program_at_each_start_with_the_cluster_s_variables(table, tmp_path, monkeypatch):
    monkeypatch.setenv("OVERTONE_CLUSTER", "100%")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "my token"))
    monkeypatch.setenv("RAY_AUTH_TOKEN", "a secret")
    table.write_text("0 5 * * * tidy\n")
    for _ in range(2):
        assert start_at_boot("json.tool", "--help") == ""
    kept, line = table.read_text().splitlines()
    assert kept == "0 5 * * * tidy"
    assert line.startswith("@reboot env OVERTONE_CLUSTER=100\\% ")
    assert "a secret" not in line
    command = line.removeprefix("@reboot ").replace("\\%", "%")  # as cron reads it
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "json" in done.stdout
    assert sys.executable in line


def test_a_first_table_is_made(table):
    assert start_at_boot("json.tool") == ""
    assert table.read_text().count("@reboot") == 1


def test_a_table_that_cannot_be_read_is_not_replaced(table, monkeypatch):
    monkeypatch.setenv("SAYS", "You (me) are not allowed to use this program")
    assert "not allowed" in start_at_boot("json.tool")
    assert not table.exists()


def test_errors_of_cron_are_returned(table, monkeypatch):
    monkeypatch.setenv("FULL", "1")
    assert start_at_boot("json.tool") == "disk full"
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "crontab" in start_at_boot("json.tool")


def test_a_table_gets_one_line() -> None:
    first = with_line("0 5 * * * tidy\n", "@reboot env A=1 python -m watch --resume", "-m watch ")
    assert first == "0 5 * * * tidy\n@reboot env A=1 python -m watch --resume\n"
    assert with_line(first, "@reboot env A=2 python -m watch --resume", "-m watch ") == (
        "0 5 * * * tidy\n@reboot env A=2 python -m watch --resume\n"
    )
    assert with_line("", "@reboot x", "y") == "@reboot x\n"
