from __future__ import annotations

import pytest

from overtone.observers.files.constant_text import ConstantText
from overtone.observers.files.csv_table import Sheet, columns, names_of, sheet_of

CONSTANT = ConstantText({"lr": 0.1}, 0, ("trial_id", "config/lr"), ",t,0.1", "", "")


def sheet() -> Sheet:
    return Sheet(columns(("loss",), CONSTANT.names), CONSTANT)


def test_late_columns_stand_at_the_end() -> None:
    wide = sheet()
    wide.add(["b"])
    wide.waiting.append((1, f"1,{wide.constant.cells}{wide.late_cells({'b': 2})}"))
    assert wide.header == "loss,timesteps_total,trial_id,config/lr,b"
    change = wide.widening()
    assert change("loss,timesteps_total,trial_id,config/lr\n0,,t,0.1\n").splitlines() == [
        wide.header,
        "0,,t,0.1,",
        "1,,t,0.1,2",
    ]
    assert (wide.waiting, wide.n_written) == ([], 1)


def test_a_line_break_inside_of_a_cell_ends_no_row() -> None:
    wide = sheet()
    before = wide.header
    wide.add(["b"])
    assert wide.widening()(f'{before}\n"a ""b""\nc",,t,"\n"\n') == f'{wide.header}\n"a ""b""\nc",,t,"\n",\n'


def test_a_name_may_be_anything() -> None:
    wide = sheet()
    before = wide.header
    names = ["a,b", 'say "x"', "two\nlines", "\ud800", ""]
    wide.add(names)
    text = wide.widening()(f"{before}\n1,,t,0.1\n")
    assert names_of(text)[-5:] == [*names[:3], "\\ud800", ""]
    wide.add(["more"])
    assert wide.widening()(text).endswith("\n1,,t,0.1,,,,,,\n")


@pytest.mark.parametrize(
    "names",
    [
        ["loss", "trial_id", "config/lr"],
        ["loss", "timesteps_total", "trial_id"],
        ["loss", "timesteps_total", "config/lr", "trial_id"],
        ["loss", "timesteps_total", "trial_id", "config/lr", "loss"],
        ["trial_id", "config/lr", "timesteps_total"],
        [],
    ],
)
def test_a_file_in_another_order_has_no_sheet(names) -> None:
    assert sheet_of(names, CONSTANT) is None


def test_a_file_in_this_order_is_gone_on_with() -> None:
    found = sheet_of(["loss", "timesteps_total", "trial_id", "config/lr", "b", "c"], CONSTANT)
    assert found is not None
    assert (found.late, found.n_written) == (["b", "c"], 2)
