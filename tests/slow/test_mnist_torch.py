"""The MNIST example in both forms, on the real images where they are at hand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "mnist_torch.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


@pytest.fixture
def mnist() -> str:
    folder = Path(os.environ.get("OVERTONE_TEST_DATA", ROOT.parent / "shared" / "data"), "mnist")
    if folder.is_dir():
        return str(folder)
    message = f"{folder} is not there: set OVERTONE_TEST_DATA to a folder that has mnist/"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("form", ["function", pytest.param("class", marks=pytest.mark.full)])
def test_a_small_run_ends_with_a_model_and_a_plot(form: str, mnist: str, tmp_path: Path) -> None:
    picture = tmp_path / "curves.png"
    ran = run("--data", mnist, "--form", form, "--smoke", "--storage", str(tmp_path), "--plot", str(picture))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    accuracy = re.search(r"Test accuracy: (0\.\d+)", ran.stdout)
    assert accuracy, ran.stdout
    assert float(accuracy[1]) > 0.6
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_without_data_it_says_which_files_it_needs() -> None:
    ran = run()
    assert ran.returncode == 2
    assert "train-images-idx3-ubyte" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_folder_without_the_files_is_named(tmp_path: Path) -> None:
    ran = run("--data", str(tmp_path))
    assert ran.returncode == 2
    assert str(tmp_path) in ran.stderr
    assert "Traceback" not in ran.stderr
