"""What docs/cli.md says is what there is."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

from overtone.cli.arguments import COMMANDS, made
from overtone.cli.exit_codes import EXPLAINED

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()


def test_each_command_has_its_section():
    assert re.findall(r"^## overtone (\w+)", PAGE, re.M) == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_is_named(command):
    (commands,) = made([command])._subparsers._group_actions
    for option in commands.choices[command]._actions:
        names = option.option_strings if option.help != argparse.SUPPRESS else []
        assert not names or "--help" in names or any(re.search(rf"`[^`]*{name}\b", PAGE) for name in names)


def test_each_exit_code_is_explained():
    codes = re.findall(r"^  (\d+) ", EXPLAINED, re.M)
    assert re.findall(r"^\| (\d+) \|", PAGE, re.M) == codes


def keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return {*value, *(key for name, one in value.items() if name not in SKIPPED for key in keys(one))}
    return {key for one in value for key in keys(one)} if isinstance(value, list) else set()


SKIPPED = {"config", "last_result", "metrics", "parts", "statuses"}


@pytest.mark.parametrize(
    "argv",
    [["ls"], ["show", "search"], ["show", "search", "3"], ["best", "search"], ["why", "search", "2"],
     ["resume", "search", "--force", "--dry-run", "--", "true"]],
)  # fmt: skip
def test_each_field_is_listed(overtone, search, argv):
    at = argv.index("--") if "--" in argv else len(argv)
    data = overtone(*argv[:at], "--json", *argv[at:]).data
    assert [key for key in sorted(keys(data)) if f"`{key}`" not in PAGE] == []


def test_each_field_of_a_line_is_listed(overtone, search):
    for line in overtone("tail", "search", "--json", "-n", 100).out.splitlines():
        document = json.loads(line)
        assert [key for key in document if f"`{key}`" not in PAGE] == []
        assert document["kind"] in PAGE
