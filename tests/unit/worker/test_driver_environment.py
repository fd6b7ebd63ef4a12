from __future__ import annotations

import functools
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.worker.server import driver_environment
from overtone.worker.server.driver_environment import (
    DriverEnvironment,
    explain,
    load_job,
    take_over,
    write_header,
)
from overtone.worker.server.python_command import new_python


def test_what_is_written_is_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["here"])
    written = DriverEnvironment(("train.py", "--fast"), (), ("0",), (), "/results", ("out", "err"), True)
    job = Job(dict, "dict", Path("/results"))
    with tempfile.TemporaryFile() as file:
        write_header(file, written)
        pickle.dump(job, file)
        file.flush()
        for _ in range(2):  # by several processes, which share the position
            assert take_over(file.fileno()) == written
            assert load_job(file.fileno(), written) == job
    assert sys.argv == ["train.py", "--fast"]


def test_a_new_python_has_this_ones_path_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "warnoptions", ["error::UserWarning"])
    monkeypatch.setattr(sys, "_xoptions", {"importtime": True, "utf8": True, "pycache_prefix": "/x"})
    monkeypatch.setattr(sys, "path", ["/a", "/b"])
    assert new_python("boot()", "7") == [
        sys.executable, "-Werror::UserWarning", "-X", "utf8", "-X", "pycache_prefix=/x", "-c", "boot()", "7",
        "/a", "/b",
    ]  # fmt: skip


def test_an_explanation_begins_in_the_users_code() -> None:
    try:
        pickle.loads(b"cno_such_module\nf\n.")
    except ModuleNotFoundError as error:
        line, traceback = explain(error)
    assert line.startswith("ModuleNotFoundError: No module named 'no_such_module' (")
    assert traceback.rstrip().endswith("No module named 'no_such_module'")


class Model:
    pass


def train(config: Any) -> Model:
    return Model()


@pytest.mark.parametrize("trainable", [train, functools.partial(train, 1)])
def test_main_gets_what_came_by_value(monkeypatch: pytest.MonkeyPatch, trainable: Any) -> None:
    main = sys.modules["__main__"]
    for one in (Model, train):
        monkeypatch.setattr(one, "__module__", "__main__")
        monkeypatch.setattr(main, one.__name__, None, raising=False)
        monkeypatch.delattr(main, one.__name__)
    driver_environment._furnish_main(trainable)
    assert (main.Model, main.train) == (Model, train)  # type: ignore[attr-defined]
