"""The origin of an experiment's code: the commit of its repository, and versions of packages."""

from __future__ import annotations

import dis
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from overtone.run.header.source_hash import main_script
from overtone.worker.trainables.with_parameters import unwrap

PATIENCE_S = 0.5
"""Seconds that the start of a run waits for `git status`, at most."""

_DISTRIBUTIONS = {
    "sklearn": "scikit-learn", "PIL": "pillow", "cv2": "opencv-python", "yaml": "PyYAML",
    "skimage": "scikit-image",
}  # fmt: skip
_HASH = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class CodeFacts:
    """The state of a trainable's code; `git status` runs from here on, until `data` is called.

    Args:
        trainable: The user's trainable.
    """

    def __init__(self, trainable: Any) -> None:
        self._code = _unwrapped(trainable)
        self._tree = _work_tree(_folder(self._code))
        if self._tree is not None:
            _begin_status(self._tree)

    def data(self) -> dict[str, Any]:
        """Return the facts as data.

        Returns:
            "packages": Versions of the packages that the trainable's module or code imports, by the name that
                is imported; Overtone and the standard library are left out.
            "commit": The commit that is checked out, if the code is in a Git repository.
            "is_modified": Whether files under version control differ from that commit; None if unknown.
        """
        facts: dict[str, Any] = {"packages": packages_of(self._code)}
        if self._tree is not None:
            is_modified = _is_modified(self._tree)
            if commit := _commit(self._tree):
                facts |= {"commit": commit, "is_modified": is_modified}
        return facts


def packages_of(code: Any) -> dict[str, str]:
    """Return versions of the packages that a function's or class's module uses, by import name."""
    names = {name.partition(".")[0] for name in _imported(code)}
    own = {*sys.stdlib_module_names, *sys.builtin_module_names, "overtone", "__main__"}
    found = {name: _version(name) for name in sorted(names - own)}
    return {name: version for name, version in found.items() if version}


def _imported(code: Any) -> Iterator[str]:
    module = sys.modules.get(getattr(code, "__module__", None) or "")
    for value in list(vars(module).values()) if module is not None else ():
        with suppress(Exception):  # A lazy object, such as unconfigured settings, may raise at any attribute.
            named = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if isinstance(named, str):
                yield named
    methods = vars(code).values() if isinstance(code, type) else [code]
    for one in methods:
        body = getattr(one, "__code__", None)
        if isinstance(body, CodeType):
            yield from _imports_in(body)


def _imports_in(body: CodeType) -> Iterator[str]:
    for one in dis.get_instructions(body):
        if one.opname == "IMPORT_NAME":
            yield str(one.argval)
    for constant in body.co_consts:
        if isinstance(constant, CodeType):
            yield from _imports_in(constant)


@functools.cache
def _version(name: str) -> str:
    """Return the version of the package that is imported as `name`; "" for a module without one."""
    loaded = getattr(sys.modules.get(name), "__version__", None)
    if isinstance(loaded, str):
        return loaded[:100]
    from importlib.metadata import PackageNotFoundError, version

    with suppress(PackageNotFoundError, ValueError):
        return version(_DISTRIBUTIONS.get(name, name))[:100]
    return ""


def _unwrapped(trainable: Any) -> Any:
    with suppress(Exception):  # An unusual user object has no code to find.
        trainable = unwrap(trainable)
        return getattr(trainable, "__wrapped__", trainable)
    return trainable


def _folder(code: Any) -> Path:
    """Return the folder of the trainable's file; else of the script, else the working directory."""
    module = sys.modules.get(getattr(code, "__module__", None) or "")
    file = getattr(module, "__file__", None) or main_script()
    return Path(file).absolute().parent if file and os.path.exists(file) else Path.cwd()


# --- Git -------------------------------------------------------------------------------------


def _work_tree(folder: Path) -> Path | None:
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)


def _commit(tree: Path) -> str:
    """Return the commit that is checked out, read from the repository's files; "" if it is not found."""
    try:
        place = tree / ".git"
        if place.is_file():  # a linked work tree
            place = tree / place.read_text("utf-8").removeprefix("gitdir:").strip()
        head = (place / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref:"):
            return head if _HASH.fullmatch(head) else ""
        name = head.removeprefix("ref:").strip()
        common = place / "commondir"
        shared = place / common.read_text("utf-8").strip() if common.is_file() else place
        for base in (place, shared):
            if (base / name).is_file():
                found = (base / name).read_text("utf-8").strip()
                return found if _HASH.fullmatch(found) else ""
        packed = (shared / "packed-refs").read_text("utf-8")
        found = next((line.split()[0] for line in packed.splitlines() if line.endswith(f" {name}")), "")
        return found if _HASH.fullmatch(found) else ""
    except (OSError, ValueError):
        return ""


_begun: dict[Path, subprocess.Popen[bytes] | None] = {}
_known: dict[Path, bool | None] = {}


def _begin_status(tree: Path) -> None:
    """Start `git status`, once a process and repository: the code that runs was loaded at its start."""
    if tree in _begun or tree in _known:
        return
    # no lock on the index, and no program that the repository's configuration names
    command = [
        "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", str(tree), "status", "--porcelain",
        "--untracked-files=no", "--ignore-submodules",
    ]  # fmt: skip
    # a hook of Git names another repository in these variables
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        _begun[tree] = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment,
        )  # fmt: skip
    except OSError:  # Git is not installed.
        _begun[tree] = None


def _is_modified(tree: Path) -> bool | None:
    if tree not in _known:
        _known[tree] = _answer(_begun.pop(tree, None))
    return _known[tree]


def _answer(process: subprocess.Popen[bytes] | None) -> bool | None:
    if process is None:
        return None
    try:
        output, _ = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    return bool(output.strip()) if process.returncode == 0 else None
