from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overtone.analysis.plots.thinning import thin


def test_a_short_curve_is_kept() -> None:
    assert thin(np.arange(40), np.zeros(40), 10).tolist() == list(range(40))


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=50, max_size=300), st.integers(1, 10))
def test_each_pixel_keeps_its_extremes_and_its_ends(values: list[float], n_pixels: int) -> None:
    x, y = np.arange(len(values)), np.array(values)
    kept = thin(x, y, n_pixels)
    assert (np.diff(kept) > 0).all()
    assert len(kept) <= 5 * n_pixels or len(values) <= 4 * n_pixels
    pixel = np.minimum((x * n_pixels / x[-1]).astype(int), n_pixels - 1)
    for i in range(n_pixels):
        whole, rest = np.flatnonzero(pixel == i), kept[pixel[kept] == i]
        assert {whole[0], whole[-1]} <= set(rest)
        numbers = y[whole][~np.isnan(y[whole])]
        if len(numbers):
            assert (np.nanmin(y[rest]), np.nanmax(y[rest])) == (numbers.min(), numbers.max())
        assert np.isnan(y[rest]).any() == np.isnan(y[whole]).any()
