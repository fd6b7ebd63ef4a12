from __future__ import annotations

import csv
import io
import json
import sys

import pytest

from overtone.cli.commands.export import typed_columns


@pytest.fixture
def odd(tell):
    """Results with different metrics, and values that formats treat in different ways."""
    told = tell("odd")
    first = told.run(
        {"model": {"layers": [1, 2]}, "name": 'a "quoted", text\nof two lines'}, 0.5, float("nan")
    )
    second = told.add({"model": {"layers": 3}})
    told.start(second)
    told.report(second, loss=float("inf"), accuracy=True, deep={"a": {"b": 1}}, big=10**30)
    told.end(second)
    told.close()
    return first, second


def test_csv_has_a_row_for_each_result_and_all_columns(overtone, odd):
    done = overtone("export", "odd")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert done.code == 0
    assert [row["trial_id"] for row in rows] == [odd[0], odd[0], odd[1]]
    assert [row["loss"] for row in rows] == ["0.5", "nan", "inf"]
    assert [row["deep/a/b"] for row in rows] == ["", "", "1"]
    assert rows[0]["config/name"] == 'a "quoted", text\nof two lines'
    assert rows[0]["config/model/layers"] == "[1, 2]"
    assert next(iter(rows[0])) == "trial_id"


def test_json_is_one_array_with_nested_results(overtone, odd):
    rows = json.loads(overtone("export", "odd", "--format", "json").out)
    assert [row["loss"] for row in rows] == [0.5, "nan", "inf"]
    assert rows[2]["deep"] == {"a": {"b": 1}}
    assert rows[0]["config"]["model"] == {"layers": [1, 2]}


def test_the_last_result_of_each_trial(overtone, search):
    rows = json.loads(overtone("export", "search", "--trials", "--format", "json").out)
    assert [(row["trial_id"], row.get("loss"), row["status"]) for row in rows] == [
        ("358bb_00000", 0.2, "TERMINATED"),
        ("358bb_00001", 0.9, "TERMINATED"),
        ("358bb_00002", 0.6, "TERMINATED"),
        ("358bb_00003", None, "ERROR"),
    ]


def test_an_experiment_without_results(overtone, tell):
    tell().close()
    assert overtone("export", "exp").out == "\n"
    assert overtone("export", "exp", "--format", "json").out == "[]\n"


def test_a_file_is_written_whole_in_the_format_of_its_name(overtone, search, tmp_path):
    file = tmp_path / "out.json"
    done = overtone("export", "search", "-o", file)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"overtone: wrote 6 results of search to {file}\n"
    assert len(json.loads(file.read_text())) == 6
    assert [one.name for one in tmp_path.iterdir() if one.suffix == ".tmp"] == []


def test_a_file_that_was_there_stays_where_writing_fails(overtone, search, tmp_path, monkeypatch):
    file = tmp_path / "out.csv"
    file.write_text("before")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("overtone.cli.commands.export._cell", fail)
    done = overtone("export", "search", "-o", file)
    assert (done.code, file.read_text()) == (1, "before")
    assert "No space left on device" in done.err
    assert [one.name for one in tmp_path.iterdir() if one.suffix == ".tmp"] == []


def test_where_nothing_can_be_written(overtone, search, tmp_path):
    assert "is a folder" in overtone("export", "search", "-o", tmp_path).err
    done = overtone("export", "search", "-o", tmp_path / "no" / "out.csv")
    assert done.code == 1
    assert f"there is no folder {tmp_path / 'no'} for out.csv" in done.err
    assert "/proc/out.csv cannot be written: " in overtone("export", "search", "-o", "/proc/out.csv").err


def test_types_of_parquet_columns():
    rows = [
        {
            "i": 1,
            "f": 1.5,
            "b": True,
            "s": "x",
            "mixed": 1,
            "big": 2**70,
            "wide": 2**60,
            "none": None,
            "list": [1],
        },
        {"i": 2, "f": 2, "b": False, "s": None, "mixed": "a", "big": 1, "wide": 0.5, "none": None},
    ]
    assert typed_columns(rows) == {
        "i": ("int64", [1, 2]),
        "f": ("float64", [1.5, 2]),
        "b": ("bool", [True, False]),
        "s": ("string", ["x", None]),
        "mixed": ("string", ["1", "a"]),
        "big": ("string", [str(2**70), "1"]),
        "wide": ("string", [str(2**60), "0.5"]),
        "none": ("null", [None, None]),
        "list": ("string", ["[1]", None]),
    }


def test_a_column_may_come_late():
    assert typed_columns([{"a": 1}, {"b": 2}])["b"] == ("int64", [None, 2])


def test_parquet(overtone, odd, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "out.parquet"
    assert overtone("export", "odd", "-o", file).code == 0
    table = parquet.read_table(file).to_pydict()
    assert table["trial_id"] == [odd[0], odd[0], odd[1]]
    assert table["deep/a/b"] == [None, None, 1]


def test_parquet_without_its_package_names_the_command(overtone, search, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = overtone("export", "search", "-o", tmp_path / "out.parquet")
    assert (done.code, list(tmp_path.glob("out*"))) == (1, [])
    assert 'pip install "overtone[parquet]"' in done.err
