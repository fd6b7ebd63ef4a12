from __future__ import annotations

import pytest

from overtone.errors import DamagedError
from overtone.packs.sums import from_lines, is_inside, to_lines

NAMES = [
    "a",
    "a/b",
    "a b",
    " ",
    "a  b",
    "a\nb",
    "a\r",
    "\\",
    "\\n",
    "a\\\nb",
    "ä",
    "\udcff",
    "\x85",
    "\u2028",
    "*a",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_comes_back(name):
    sums = {name: "0" * 64, "other": "1" * 64}
    assert is_inside(name)
    assert from_lines(to_lines(sums), "pack") == sums


@pytest.mark.parametrize("data", [b"\n", b"abc  name\n", b"0" * 64 + b" name\n", b"\0", b"0" * 64 + b"  "])
def test_another_format_is_refused(data):
    with pytest.raises(DamagedError, match="line 1 of SHA256SUMS"):
        from_lines(data, "pack")


def test_a_name_is_listed_once():
    line = b"0" * 64 + b"  a\n"
    with pytest.raises(DamagedError, match="line 2 of SHA256SUMS names 'a' again"):
        from_lines(line * 2, "pack")
