"""The version of this package: the build, journals and `overtone --version` read it here."""

__version__ = "0.1.0"
