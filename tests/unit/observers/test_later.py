"""Files that a thread writes."""

import pytest

from overtone.errors import StorageError
from overtone.observers.later import MOST_WAITING, Later


def test_all_is_written_in_order_once_it_was_waited_for(tmp_path):
    later = Later()
    path = str(tmp_path / "trial" / "result.json")
    for i in range(2 * MOST_WAITING):
        later.write(path, f"{i}\n", append=True)
    later.wait()
    assert (tmp_path / "trial" / "result.json").read_text().split() == [
        str(i) for i in range(2 * MOST_WAITING)
    ]


def test_it_goes_on_after_a_wait(tmp_path):
    later = Later()
    for text in ("first", "second"):
        later.write(str(tmp_path / "one"), text)
        later.wait()
        later.wait()
        assert (tmp_path / "one").read_text() == text


def test_what_cannot_be_written_is_told_at_each_call_from_then_on(tmp_path):
    (tmp_path / "file").write_text("")
    later = Later()
    later.write(str(tmp_path / "file" / "below"), "text")
    with pytest.raises(StorageError, match="cannot be written"):
        later.wait()
    with pytest.raises(StorageError, match="below cannot be written"):
        later.write(str(tmp_path / "other"), "text")
    assert not (tmp_path / "other").exists()
