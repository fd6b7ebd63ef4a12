"""Names that scripts of the 2.0 to 2.6 API import as `air`; they live in `overtone.tune`."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
