"""Files that are replaced in a folder that anybody may have filled."""

import os

import pytest

from overtone.errors import StorageError
from overtone.regular_files import replace_file


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["link", "pipe", "file"])
def test_what_lies_in_the_way_is_not_written_to(tmp_path, kind):
    path, new, precious = (tmp_path / name for name in ("a.json", "a.json.new", "precious"))
    precious.write_text("precious")
    if kind == "link":
        new.symlink_to(precious)
    elif kind == "pipe":
        os.mkfifo(new)
    else:
        os.link(precious, new)
    replace_file(path, b"data")
    assert not path.is_symlink()
    assert (path.read_bytes(), precious.read_text(), new.exists()) == (b"data", "precious", False)


def test_only_regular_files_are_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match="named pipe"):
        replace_file(pipe, b"data")
    assert pipe.is_fifo()
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]
