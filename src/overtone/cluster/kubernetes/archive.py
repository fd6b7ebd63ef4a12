"""The files that a setup reads as one archive: pods run the setup before anybody can upload to them."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path

from overtone.cluster.kubernetes.patterns import files_below
from overtone.quantity_text import size_text

MOST_BYTES = 1_000_000
"""The largest archive: Kubernetes allows 1 MiB in a Secret."""

LEFT_OUT = (".git", ".venv", "venv", "__pycache__", "*.pyc", "node_modules")
"""Patterns of files that are not in the archive."""

_MOST_UNPACKED = 50 * MOST_BYTES


def archive_of(folder: Path, names: Sequence[str]) -> bytes:
    """Return a tar.gz of files and folders below a folder; the same files give the same bytes.

    Args:
        names: Relative paths. Of a folder, all regular files are taken.

    Raises:
        ValueError: It would be larger than `MOST_BYTES`; the message is a rule.
    """
    names = [file for name in names for file in _files(folder, name)]
    if (size := sum((folder / name).stat().st_size for name in names)) > _MOST_UNPACKED:
        raise ValueError(_rule(f"{size_text(size)} uncompressed"))
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in names:
            content = (folder / name).read_bytes()
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755 if os.access(folder / name, os.X_OK) else 0o644
            tar.addfile(member, io.BytesIO(content))
    data = gzip.compress(raw.getvalue(), mtime=0)
    if len(data) > MOST_BYTES:
        raise ValueError(_rule(f"{size_text(len(data))} compressed"))
    return data


def _files(folder: Path, name: str) -> list[str]:
    path = folder / name
    return [f"{name}/{one}" for one in files_below(path, LEFT_OUT)] if path.is_dir() else [name]


def _rule(size: str) -> str:
    return (
        f"is too large ({size}) for a Secret, which gives each pod the files that its setup reads: at most "
        f"{size_text(MOST_BYTES)} compressed; put the setup into an image (provider.image), and remove "
        "setup"
    )
