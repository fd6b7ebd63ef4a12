"""The example of docs/sweep.md prints what the page shows."""

import re
from pathlib import Path

import pytest

from tests.integrations.programs import only_folder, overtone, results

PAGE = Path(__file__).parents[2] / "docs" / "sweep.md"


def test_the_first_sweep_of_the_page(tmp_path):
    pytest.importorskip("yaml")
    page = PAGE.read_text("utf-8")
    (tmp_path / "train.py").write_text(re.search(r"```python\n(# train.py.*?)```", page, re.DOTALL)[1])
    (tmp_path / "sweep.yaml").write_text(re.search(r"```yaml\n(# sweep.yaml.*?)```", page, re.DOTALL)[1])
    command = re.search(r"\$ overtone (sweep sweep.yaml .*)", page)[1].split()
    done = overtone(*command, cwd=tmp_path, env={"HOME": str(tmp_path)})
    shown = set(re.findall(r"\(lr=\S+, layers=\d\)", page))
    assert len(shown) == 3
    assert shown < set(re.findall(r"\(lr=\S+, layers=\d\)", done.stdout))
    assert re.search(r"best by last value: val_loss=(\S+)", page)[1] in done.stdout
    found = results(only_folder(tmp_path / "overtone_results"))
    assert {len(one) for one in found.values()} <= {2, 4, 8}
    assert len(found) == 8


def test_every_option_is_on_the_page_of_commands():
    text = overtone("sweep", "--help", cwd=PAGE.parent).stdout
    section = re.search(r"## overtone sweep.*?\n## ", PAGE.with_name("cli.md").read_text("utf-8"), re.DOTALL)[
        0
    ]
    options = set(re.findall(r"--[a-z-]+", text)) - {"--help", "--verbose", "--lr", "--name"}
    assert {one for one in options if f"{one}" not in section} <= {"--name"}
