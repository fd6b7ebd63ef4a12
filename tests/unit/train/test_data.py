from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from overtone import train
from overtone.errors import TrainableError
from overtone.train import data
from overtone.train.dataset_shard import DatasetShard, normalized, split
from overtone.worker.session.current import activated

FRAME = pd.DataFrame({"x": range(7), "y": [n * 10 for n in range(7)]})


class MapStyle:
    def __len__(self):
        return 7

    def __getitem__(self, index):
        return (index, index * 10)


class Gang:
    """Calls in this process: each rank's shards by rank."""

    num_workers = 2

    def __init__(self):
        self.shards = {}

    def call_rank(self, rank, function, shards):
        assert function is data.keep_shards
        self.shards[rank] = shards


@pytest.mark.parametrize(
    ("dataset", "rows"),
    [
        (list(range(7)), lambda part: list(part)),
        (np.arange(7), lambda part: part.tolist()),
        ({"x": np.arange(7), "y": list(range(7))}, lambda part: part["x"].tolist()),
        (FRAME, lambda part: part["x"].tolist()),
        (MapStyle(), lambda part: [part[n][0] for n in range(len(part))]),
    ],
    ids=["list", "array", "columns", "frame", "map-style"],
)
def test_ranks_get_equally_many_rows_and_none_twice(dataset, rows):
    assert [rows(split(dataset, rank, 2)) for rank in range(2)] == [[0, 2, 4], [1, 3, 5]]
    assert rows(split(dataset, 0, 1)) == list(range(7))


def test_a_dataset_that_makes_a_frame_is_read_once_and_others_stay_as_they_are():
    class Table:
        def to_pandas(self):
            return FRAME

    given = {"table": Table(), "list": [1, 2]}
    assert normalized(given)["table"] is FRAME
    assert normalized(given)["list"] is given["list"]
    assert normalized(None) == {}


@pytest.mark.parametrize("bad", [iter([1]), 3, {"x": [1], "y": [1, 2]}])
def test_what_has_no_rows_is_refused_by_its_name(bad):
    with pytest.raises(TypeError, match=r"datasets\['train'\]"):
        normalized({"train": bad})


def test_a_shard_gives_rows_batches_and_frames():
    shard = DatasetShard(FRAME.iloc[:5])
    assert (shard.count(), len(shard.materialize())) == (5, 5)
    assert list(shard)[1] == {"x": 1, "y": 10}
    assert shard.to_pandas()["y"].tolist() == [0, 10, 20, 30, 40]
    assert [batch["x"].tolist() for batch in shard.iter_batches(batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert [
        len(batch) for batch in shard.iter_batches(batch_size=2, batch_format="pandas", drop_last=True)
    ] == [2, 2]
    assert [batch["x"].tolist() for batch in shard.iter_batches(batch_size=None)] == [[0, 1, 2, 3, 4]]
    with pytest.raises(ValueError, match="batch_format='arrow'"):
        next(shard.iter_batches(batch_format="arrow"))


def test_rows_that_are_dicts_have_columns():
    shard = DatasetShard([{"x": n, "y": n + 1} for n in range(4)])
    assert shard.to_pandas()["y"].tolist() == [1, 2, 3, 4]
    assert next(shard.iter_batches())["x"].tolist() == [0, 1, 2, 3]


def test_an_array_has_batches_of_rows():
    assert [batch.tolist() for batch in DatasetShard(np.arange(3)).iter_batches(batch_size=2)] == [
        [0, 1],
        [2],
    ]


def test_each_rank_is_sent_its_rows_and_what_is_not_split_whole():
    gang = Gang()
    data.send_shards(gang, {"train": [0, 1, 2, 3], "valid": [7, 8]}, train.DataConfig(["train"]))
    assert gang.shards == {0: {"train": [0, 2], "valid": [7, 8]}, 1: {"train": [1, 3], "valid": [7, 8]}}


def test_a_worker_asks_for_a_shard_by_name():
    class Session:
        pass

    with activated(Session()):
        data.keep_shards({"train": [1, 2]})
        assert train.get_dataset_shard("train").data == [1, 2]
        assert train.get_dataset_shard().data == [1, 2]
        with pytest.raises(TrainableError, match=r"'valid'.*are 'train'"):
            train.get_dataset_shard("valid")
    with pytest.raises(TrainableError, match="no trainer with datasets="):
        train.get_dataset_shard("train")
    with activated(Session()), pytest.raises(TrainableError, match="no trainer with datasets="):
        train.get_dataset_shard("train")


def test_numbers_of_arrow_are_those_of_pandas_for_lightgbm():
    pytest.importorskip("pyarrow")
    from overtone.train.lightgbm import normalize_pandas_for_lightgbm

    frame = pd.DataFrame(
        {
            "n": pd.array([1, 2], "int64[pyarrow]"),
            "ok": pd.array([True, None], "bool[pyarrow]"),
            "x": [0.5, 1.5],
        }
    )
    normal = normalize_pandas_for_lightgbm(frame)
    assert [str(dtype) for dtype in normal.dtypes] == ["Int64", "boolean", "float64"]
    assert normal["n"].tolist() == [1, 2]
    assert normalize_pandas_for_lightgbm(normal) is normal
