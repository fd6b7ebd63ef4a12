from __future__ import annotations

import pytest

from overtone.quantity_text import age_text, count_text, size_text


def test_counts_agree_with_their_noun() -> None:
    assert [count_text(n, "trial") for n in (0, 1, 1200)] == ["0 trials", "1 trial", "1,200 trials"]


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (9949, "9.95 kB"),
        (31_508_062, "31.5 MB"),
        (999_400, "999 kB"),
        (999_600, "1 MB"),
        (5e15, "5000 TB"),
    ],
)
def test_bytes_as_people_write_them(count, shown):
    assert size_text(count) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-3, "0 s"), (119.4, "119 s"), (120, "2 min"), (7199, "120 min"), (12_600, "3.5 h")],
)
def test_ages_as_people_tell_them(seconds, shown):
    assert age_text(seconds) == shown
