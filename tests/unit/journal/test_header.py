from __future__ import annotations

import os

import pytest

from overtone import __version__
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.formats import FORMAT
from overtone.journal.header import described, new_header
from overtone.journal.lines import header
from overtone.journal.reader import read
from overtone.journal.seals import sealed
from overtone.journal.writer import JournalWriter
from overtone.searchers import AutoSearch, BasicVariantGenerator
from overtone.searchers.library.optuna import OptunaSearch


class Scheduler:
    def __init__(self, grace: int, rungs: list[int], wrapped: object = None) -> None:
        self.grace, self._rungs, self.wrapped = grace, rungs, wrapped


def test_the_header_is_read_back(path) -> None:
    made = new_header(17, {"scheduler": described(Scheduler(3, [1, 2]))}, ["train.py", "--x"])
    JournalWriter(path, made).close()
    found = header(path)
    assert (found["format"], found["seed"], found["command"]) == (FORMAT, 17, ["train.py", "--x"])
    assert (found["overtone"], found["directory"], found["pid"]) == (__version__, os.getcwd(), os.getpid())
    assert found["parts"] == made["parts"]
    assert {"python", "platform", "hostname", "wall"} <= found.keys()


def test_parts_are_described_by_path_and_arguments() -> None:
    inner = {"path": f"{__name__}.Scheduler", "arguments": {"grace": 1, "rungs": [], "wrapped": None}}
    assert described(Scheduler(3, [1, 2], Scheduler(1, []))) == {
        "path": f"{__name__}.Scheduler",
        "arguments": {"grace": 3, "rungs": [1, 2], "wrapped": inner},
    }
    assert described(os.getcwd) == {"path": "posix.getcwd"}
    assert described(Scheduler) == {"path": f"{__name__}.Scheduler"}
    assert described({"a": (1, None)}) == {"a": [1, None]}
    assert described(Scheduler(1, []), {"grace": 9})["arguments"] == {"grace": 9}


def test_journals_name_a_searcher_without_its_sub_folder() -> None:
    assert described(OptunaSearch())["path"] == "overtone.searchers.optuna.OptunaSearch"
    assert described(AutoSearch)["path"] == "overtone.searchers.auto.AutoSearch"
    assert described(BasicVariantGenerator)["path"] == "overtone.searchers.basic.BasicVariantGenerator"


def test_a_function_that_belongs_to_no_module_is_described() -> None:
    made: dict[str, object] = {}
    exec("def train(config): pass", made)
    assert described(made["train"]) == {"path": "None.train"}


def test_a_part_that_holds_itself_ends() -> None:
    part = Scheduler(1, [])
    part.wrapped = part
    assert "__repr__" in str(described(part))


@pytest.mark.parametrize("data", [b"", b'{"n":1,"e":"head', b"hello", bytes(4000) + b"x\n"])
def test_no_header(path, data) -> None:
    path.write_bytes(data)
    with pytest.raises(StorageError, match="no complete header"):
        header(path)


@pytest.mark.parametrize("facts", [
    {"format": "x"}, {"format": None}, {"format": [1]}, {"format": True}, {"format": 1.5},
    {"format": 1, "parts": []}, {"format": 1, "parts": {"options": "x"}}, {"format": 1, "parts": {"metric": 1}},
    {"format": 1, "wall": "yesterday"}, {"format": 1, "nth": {}},
])  # fmt: skip
def test_a_header_of_the_wrong_type(path, facts) -> None:
    path.write_bytes(Codec().encode_fact(1, "header", facts))
    for reading in (header, lambda path: list(read(path))):
        with pytest.raises(StorageError, match="line 1: .* which Overtone does not write"):
            reading(path)


@pytest.mark.parametrize(
    "body", [b'{"n":1,"e":"header"', b'{"n":1,"e":"header","format":', b'{"n":1,[', b'["n":1']
)
def test_a_header_that_is_no_header(path, body) -> None:
    path.write_bytes(sealed(body))
    for reading in (header, lambda path: list(read(path))):
        with pytest.raises(StorageError):
            reading(path)


def test_a_damaged_header_of_records_is_damage(path, records) -> None:
    writer = JournalWriter(path, new_header(1, {}))
    writer.append(records)
    writer.close()
    path.write_bytes(path.read_bytes().replace(b'"format":2', b'"format":3', 1))
    with pytest.raises(StorageError, match=r"line 1 \(byte 0\): damaged"):
        header(path)


def test_no_file(path) -> None:
    with pytest.raises(StorageError, match="cannot be read: No such file"):
        header(path)
