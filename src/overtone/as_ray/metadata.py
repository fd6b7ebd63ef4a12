"""Metadata of a package "ray", for libraries that ask which version of it is installed."""

from __future__ import annotations

from importlib.metadata import Distribution
from os import PathLike
from typing import Any

from overtone.as_ray.state import stated_version


class RayMetadata(Distribution):
    """The distribution that `importlib.metadata` returns for Ray if Ray is not installed."""

    def read_text(self, filename: str | PathLike[str]) -> str | None:
        """Return the text of a file of metadata; None if there is no such file."""
        if str(filename) == "METADATA":
            extras = "".join(f"Provides-Extra: {name}\n" for name in ("air", "train", "tune"))
            return f"Metadata-Version: 2.1\nName: ray\nVersion: {stated_version()}\n{extras}"
        return "ray\n" if str(filename) == "top_level.txt" else None

    def locate_file(self, path: Any) -> Any:
        """Return `path`: there are no files."""
        return path
