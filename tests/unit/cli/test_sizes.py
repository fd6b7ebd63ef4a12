from __future__ import annotations

import pytest

from overtone.cli.sizes import bytes_shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9949, "9.9 kB"),
        (31_508_062, "32 MB"),
        (999_600, "1.0 MB"),
        (5e15, "5000 TB"),
    ],
)
def test_bytes_as_people_write_them(count, shown):
    assert bytes_shown(count) == shown
