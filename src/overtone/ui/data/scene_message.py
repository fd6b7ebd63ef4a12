"""A figure as a message: its arrays are binary, all else is JSON."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.drawing.scene import Axis, Mark, Panel, Scene
from overtone.analysis.scenes.common import TrialTexts
from overtone.ui.data.binary_message import MessageArrays

_MOST_LOST = 1e-5  # of the range of an array, by rounding: less than a pixel


def scene_message(scene: Scene) -> bytes:
    """Return a figure: each array is replaced by {"array": number}, and each mark has a "type"."""
    encoder = _Encoder()
    data = encoder.data(scene)
    return encoder.arrays.message({"kind": "scene", "scene": data, "arrays": encoder.listed})


class _Encoder:
    def __init__(self) -> None:
        self.arrays = MessageArrays()
        self.listed: list[dict[str, Any]] = []
        self._is_time = False

    def data(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, Panel):
            self._is_time = any(isinstance(one, Axis) and one.is_time for one in (value.x, value.y))
        if is_dataclass(value) and not isinstance(value, type):
            found = {one.name: self.data(getattr(value, one.name)) for one in fields(value)}
            texts = getattr(value, "hover", None)
            if isinstance(texts, TrialTexts):  # The page has the trials, and makes the texts itself.
                found |= {"rows": self._array(texts.rows.astype(np.int32)), "hover": list(texts.extra)}
            return {"type": type(value).__name__, **found} if isinstance(value, Mark) else found
        if isinstance(value, TrialTexts):
            return []
        if isinstance(value, (list, tuple)):
            return [self.data(one) for one in value]
        if isinstance(value, dict):
            return {name: self.data(one) for name, one in value.items()}
        if isinstance(value, (float, np.floating)):
            return float(value) if np.isfinite(value) else None
        return value

    def _array(self, values: NDArray[Any]) -> dict[str, Any]:
        if values.dtype.kind not in "fiub":
            return {"texts": values.tolist()}
        if values.dtype.kind in "iub":
            return self._listed(values)
        exact = values.astype(np.float64)
        with np.errstate(over="ignore"):  # A float32 that is infinite does not show the same.
            short = exact.astype(np.float32)
        chosen = short if not self._is_time and _shows_the_same(exact, short) else exact
        return self._listed(chosen)

    def _listed(self, values: NDArray[Any]) -> dict[str, Any]:
        if values.dtype.itemsize > 4 and values.dtype.kind in "iu":
            values = values.astype(np.float64)  # JavaScript's typed arrays of 64-bit integers are no numbers
        self.listed.append(self.arrays.add(values))
        shape = {"shape": list(values.shape)} if values.ndim > 1 else {}
        return {"array": len(self.listed) - 1, **shape}


def _shows_the_same(exact: NDArray[np.float64], short: NDArray[np.float32]) -> bool:
    finite = np.isfinite(exact)
    if not finite.any():
        return True
    lost = np.abs(short[finite] - exact[finite]).max()
    return bool(lost <= _MOST_LOST * np.ptp(exact[finite]))
