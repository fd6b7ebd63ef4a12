"""Configs as arguments of a script."""

import sys

import pytest

from overtone.errors import TrainableError
from overtone.train.script import Script, arguments


def test_configs_are_arguments():
    config = {"lr": 0.1, "model": {"width": 64, "deep": True}, "amp": False, "no": None, "sizes": [1, 2]}
    wanted = ["--lr", "0.1", "--model.width", "64", "--model.deep", "--sizes", "1", "2"]
    assert arguments(config) == wanted


def test_negative_numbers_are_not_taken_for_options():
    assert arguments({"shift": -1e-5}) == ["--shift=-1e-05"]


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A function that runs a text as a script, and returns what it left in `argv.txt`."""
    monkeypatch.setattr(sys, "argv", ["before"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("OVERTONE_RESULTS_FD", raising=False)

    def run(text, **config):
        path = tmp_path / "script.py"
        path.write_text(text)
        Script(str(path), ("first",))(config)
        return (tmp_path / "out").read_text()

    return run


def test_a_script_is_the_program(script, tmp_path):
    told = script(
        "import sys\n"
        "from pathlib import Path\n"
        "if __name__ == '__main__':\n"
        "    Path(__file__).with_name('out').write_text(' '.join(sys.argv[1:]))\n"
        "    sys.exit(0)\n",
        lr=0.1,
    )
    assert told == "first --lr 0.1"


def test_modules_beside_a_script_are_found(script, tmp_path):
    (tmp_path / "beside_the_script.py").write_text("text = 'beside'\n")
    text = "import beside_the_script, pathlib\npathlib.Path(__file__).with_name('out').write_text(beside_the_script.text)"
    assert script(text) == "beside"


@pytest.mark.parametrize(("end", "status"), [("sys.exit(3)", 3), ("sys.exit('no data')", 1)])
def test_other_exit_statuses_are_failures(script, end, status):
    with pytest.raises(TrainableError, match=f"exited with status {status}"):
        script(f"import sys\n{end}")


def test_what_a_script_holds_is_not_freed_as_it_returns(script):
    """A DDP model that is freed after its process group may wait for ever for the group's threads."""
    held = script(
        "from pathlib import Path\n"
        "out = Path(__file__).with_name('out')\n"
        "out.write_text('held')\n"
        "class Model:\n"
        "    def __del__(self, out=out):\n"
        "        out.write_text('freed')\n"
        "model = Model()\n"
    )
    assert held == "held"
