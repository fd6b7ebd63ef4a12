"""Names that scripts import from `tune.experiment.trial`."""

from __future__ import annotations

from collections.abc import Iterable

from overtone.errors import UsageError
from overtone.tune.trial import Trial

__all__ = ["ExportFormat", "Trial"]


class ExportFormat:
    """Formats for `export_formats`: what a class's `_export_model` writes is its own choice."""

    CHECKPOINT = "checkpoint"
    H5 = "h5"
    MODEL = "model"
    ONNX = "onnx"

    @staticmethod
    def validate(formats: Iterable[str]) -> None:
        """Refuse a format that has no name here.

        Raises:
            UsageError: A format is unknown.
        """
        known = (ExportFormat.CHECKPOINT, ExportFormat.MODEL, ExportFormat.ONNX, ExportFormat.H5)
        for one in formats:
            if one.strip().lower() not in known:
                raise UsageError(f"export_formats has {one!r}: choose from {', '.join(known)}")
