"""A store in a plain folder, for tests: complete, and as simple as it can be."""

from __future__ import annotations

import shutil
from pathlib import Path

from overtone.core.store import Store


class FolderStore(Store):
    """Keeps each checkpoint as a directory below `folder`; its uri is the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, source: Path, key: str, move: bool = False) -> str:
        target = self.folder / key
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        if move:
            shutil.rmtree(source)
        return str(target)

    def get(self, uri: str) -> Path:
        return Path(uri)

    def delete(self, uri: str) -> None:
        shutil.rmtree(uri, ignore_errors=True)

    def list(self, prefix: str = "") -> list[str]:
        found = (path.relative_to(self.folder) for path in self.folder.glob("*/*"))
        return sorted(str(path) for path in found if str(path).startswith(prefix))
