"""Names that scripts import from `tune.experiment.trial`."""

from overtone.tune.trial import ExportFormat, Trial

__all__ = ["ExportFormat", "Trial"]
