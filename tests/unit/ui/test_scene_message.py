"""Arrays of figures as messages."""

from __future__ import annotations

import warnings

import numpy as np

from overtone.ui.data.scene_message import _Encoder


def test_numbers_beyond_single_precision_stay_double():
    encoder = _Encoder()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.data(np.array([1.0, 1e308]))
        encoder.data(np.array([1.0, 2.0]))
    assert [one["dtype"] for one in encoder.listed] == ["f8", "f4"]
