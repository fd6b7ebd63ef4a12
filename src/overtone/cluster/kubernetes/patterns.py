"""Patterns of files that are not copied, as rsync has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path


def is_excluded(path: str, patterns: Sequence[str]) -> bool:
    """Return whether a pattern excludes a path.

    Args:
        path: Relative, with "/".
        patterns: A name, such as "*.pyc", excludes at any depth; one that begins with "/" is
            a path from the top.
    """
    parts = path.split("/")
    for pattern in patterns:
        wanted = pattern.strip("/").split("/")
        if pattern.startswith("/") or len(wanted) > 1:
            starts = [0] if pattern.startswith("/") else range(len(parts))
            if any(_is_match(parts[at : at + len(wanted)], wanted) for at in starts):
                return True
        elif any(fnmatchcase(part, wanted[0]) for part in parts):
            return True
    return False


def _is_match(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def files_below(folder: Path, patterns: Sequence[str]) -> Iterator[str]:
    """Yield the regular files below a folder that are not excluded: relative paths with "/", sorted."""
    for entry in sorted(folder.iterdir()):
        yield from _below(entry, entry.name, patterns)


def _below(entry: Path, path: str, patterns: Sequence[str]) -> Iterator[str]:
    if is_excluded(path, patterns) or entry.is_symlink():
        return
    if entry.is_dir():
        for child in sorted(entry.iterdir()):
            yield from _below(child, f"{path}/{child.name}", patterns)
    elif entry.is_file():
        yield path
