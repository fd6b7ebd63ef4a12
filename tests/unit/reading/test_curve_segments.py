from __future__ import annotations

import math

from overtone.core.messages import Ended, Moved, Ruled
from overtone.core.types import Checkpoint, Why
from overtone.reading.columns.curve_segments import curve_segments
from overtone.reading.columns.opening import ColumnReader


def segments(told, row, metric="loss"):
    reader = ColumnReader(told.write())
    columns = reader.read()
    return curve_segments(told.journal, reader.offsets(row), columns.ids[row], metric)


def test_a_config_that_changes_begins_a_segment(told):
    trial = told.add({"lr": 0.1, "net": {"depth": 2}})
    told.start(trial)
    told.report(trial, loss=3.0)
    new = {"lr": 0.2, "net": {"depth": 2}}
    told.report(trial, Ruled(trial, 2, "continue", Why("pb2"), new), loss=2.0)
    told.report(trial, loss=math.nan)
    told.report(trial, other=1.0)
    first, second = segments(told, 0)
    assert (first.attempt, first.changes, first.t, first.value) == (
        0, {"lr": 0.1, "net/depth": 2}, [1, 2], [3.0, 2.0]
    )  # fmt: skip
    assert (second.changes, second.t) == ({"lr": 0.2}, [3])
    assert math.isnan(second.arrays()[1][0])


def test_a_process_that_begins_anew_begins_a_segment(told):
    for lr in (0.1, 0.2):
        trial = told.add({"lr": lr})
        told.start(trial)
        told.report(trial, loss=lr)
    config = {"lr": 0.25}
    ruled = Ruled(trial, 2, "restart", Why("pbt"), config, "358bb_00000")
    told.report(trial, ruled, Moved(trial, "HALTING", 0), loss=2.0)
    told._tell(Ended(told.time, trial, 0, "halted"), Moved(trial, "PENDING", 1, config=config))
    told._attempts[trial] = 1
    told.start(trial, restored=Checkpoint("358bb_00000", 1, "checkpoint"))
    told._t[trial] = 1
    told.report(trial, loss=0.5)
    first, second = segments(told, 1)
    assert (first.t, first.value, first.source) == ([1, 2], [0.2, 2.0], "")
    assert (second.attempt, second.changes, second.source, second.t) == (1, {"lr": 0.25}, "358bb_00000", [2])


def test_a_metric_that_nobody_has(told):
    told.run({"lr": 0.1}, {"loss": 1.0})
    assert segments(told, 0, "accuracy") == []
