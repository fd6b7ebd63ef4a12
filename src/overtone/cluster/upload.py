"""Uploads the user's files to the head, and experiments that go on there."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from overtone.cluster.config import ClusterConfig
from overtone.cluster.interrupts import Ask
from overtone.cluster.remote import Remote, home_path
from overtone.errors import OvertoneError
from overtone.quantity_text import size_text
from overtone.regular_files import read_regular
from overtone.store.folder_mark import JOURNAL, LOCK

NEVER = (
    ".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", "__pycache__", "*.pyc", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", "node_modules", ".DS_Store", "/overtone_results",
    "/overtone_work", "/ray_results",
)  # fmt: skip
"""Patterns of files that are not uploaded: other programs make them again, or they are results."""

IGNORE_FILE = ".overtoneignore"
UNFINISHED = (".put-*", ".deleted-*", ".saving_*", ".rsync-partial", LOCK)
"""Patterns of an experiment's files that no copy needs."""

LARGE_BYTES = 500_000_000
_MOST_COUNTED = 200_000
_COUNT_S = 5.0
_NO_FILES = ("/dev", "/proc", "/run", "/sys")
"""Folders of the root whose files are on no disk."""


def work_folder(config: ClusterConfig) -> str:
    """Return the folder on the head for the user's files."""
    return f"~/overtone_work/{config.name}"


def excluded(files: Path) -> tuple[str, ...]:
    """Return patterns of files that are not uploaded: `NEVER`, virtual environments, experiments, the user's.

    The user's patterns are in `.overtoneignore`, in rsync's form, which is much like that of `.gitignore`.

    Raises:
        OvertoneError: A line begins with "!".
    """
    found = [*NEVER, *(f"/{path}" for path in _own_folders(files))]
    if files.resolve() == Path(files.resolve().anchor):
        found += _NO_FILES
    path = files / IGNORE_FILE
    if path.is_file():
        for i, line in enumerate(read_regular(path).decode(errors="replace").splitlines(), 1):
            pattern = line.strip()
            if pattern.startswith("!"):
                raise OvertoneError(
                    f"{path}:{i}: {pattern}: must name what is left out; '!' is not supported"
                )
            if pattern and not pattern.startswith("#"):
                found.append(pattern)
    return tuple(found)


def upload_files(remote: Remote, config: ClusterConfig, script: Path | None = None) -> None:
    """Copy `files` of the config to the head; files that are the same there are skipped.

    Args:
        script: The script that is uploaded if the config names no files.
    """
    if config.files is None:
        remote.run(f"mkdir -p {home_path(work_folder(config))}")
        if script is not None:
            remote.put(script, f"{work_folder(config)}/{script.name}")
        return
    files = Path(config.files)
    if not files.is_dir():
        raise config.error("files", "must be a folder on this machine, such as .", str(config.files))
    remote.put(files, work_folder(config), excluded(files))


def unsafe_upload(config: ClusterConfig) -> str:
    """Return why a person should look before `files` is uploaded: it is the home folder, or above it.

    Such a folder has keys and passwords in it. Who has listed what to leave out has looked.

    Returns:
        The reason and what to do; "" for other folders.
    """
    files = config.files
    if files is None or not files.is_dir() or (files / IGNORE_FILE).is_file():
        return ""
    path, home = files.resolve(), Path.home().resolve()
    if path == Path(path.anchor):
        what = "the root of this machine's files"
    elif path == home or path in home.parents:
        what = "your home folder" if path == home else "a folder above your home folder"
    else:
        return ""
    sizes, is_all = _count(files)
    size = f"{'' if is_all else 'at least '}{size_text(sum(sizes.values()))}"
    return (
        f"files={config.files} in {config.source}: is {what} ({size}), with your keys and passwords; name "
        f"the folder of the search, such as {files / 'digits'}, or list in {files / IGNORE_FILE} what to "
        "leave out"
    )


def check_upload(config: ClusterConfig, ask: Ask | None = None) -> None:
    """Check that the home folder and the like are uploaded only if a person wants that.

    Args:
        config: The config with the folder.
        ask: Asks a person a question; None if there is nobody to ask.

    Raises:
        OvertoneError: It is such a folder, and the person refuses or cannot be asked.
    """
    text = unsafe_upload(config)
    if text and (ask is None or not ask(f"{text}. Upload all of it?", default=False)):
        raise OvertoneError("nothing was uploaded or started" if ask is not None else text)


def large_files(files: Path) -> str:
    """Return a warning about a large upload; "" if it is not large.

    The count is bounded: a folder that is not counted to its end is worth a warning as well.
    """
    sizes, _ = _count(files)
    total = sum(sizes.values())
    if total < LARGE_BYTES:
        return ""
    top = max(sizes, key=lambda name: sizes[name])
    return (
        f"uploading {size_text(total)} from {files}, {size_text(sizes[top])} of it {top}; list files to "
        f"leave out in {files / IGNORE_FILE}"
    )


def _count(files: Path) -> tuple[dict[str, int], bool]:
    """Return the bytes of each file and folder that is uploaded, and whether that is all."""
    sizes: dict[str, int] = {}
    names = {pattern.strip("/") for pattern in excluded(files) if "*" not in pattern}
    end = time.monotonic() + _COUNT_S
    for n_files, (top, size) in enumerate(_sizes(files, names)):
        sizes[top] = sizes.get(top, 0) + size
        if n_files >= _MOST_COUNTED or time.monotonic() > end:
            return sizes, False
    return sizes, True


def upload_experiment(remote: Remote, here: Path, there: str) -> None:
    """Copy an experiment to the head: its journal last, for it names the others.

    It can be repeated after a failure.
    """
    remote.put(here, there, (*UNFINISHED, f"/{JOURNAL}"))
    remote.put(here / JOURNAL, f"{there}/{JOURNAL}")


def script_place(config: ClusterConfig, script: str) -> tuple[str, str]:
    """Return the folder on the head in which a script runs, and its path from there.

    The folder is the counterpart of the working directory if that is uploaded, else of `files`. Without
    `files`, the script alone is uploaded.

    Raises:
        OvertoneError: The script is missing, or not among the uploaded files.
    """
    path = Path(script).expanduser()
    if not path.is_file():
        raise OvertoneError(f"{script}: there is no such script on this machine")
    if config.files is None:
        return work_folder(config), _argument(path.name)
    below = _below(path, config.files)
    if below is None:
        raise OvertoneError(
            f"{script}: must be in the uploaded folder {config.files} (files in {config.source}); move it "
            "there, or name a folder that contains it"
        )
    current = _below(Path.cwd(), config.files)
    if current is None:
        return work_folder(config), _argument(below)
    folder = work_folder(config) + ("" if current == "." else f"/{current}")
    return folder, _argument(os.path.relpath(below, current))


def _argument(path: str) -> str:
    """Return a path that Python does not take for an option."""
    return f"./{path}" if path.startswith("-") else path


def _below(path: Path, folder: Path) -> str | None:
    """Return the relative path from a folder; None if the path is not in it."""
    found = os.path.relpath(os.path.realpath(path), os.path.realpath(folder))
    return None if found.split(os.sep)[0] == ".." else found


def _own_folders(files: Path) -> Iterator[str]:
    """Yield the virtual environments and the experiments in the folder and in its folders."""
    for depth in ("*", "*/*"):
        for marker in ("pyvenv.cfg", JOURNAL):
            for path in sorted(files.glob(f"{depth}/{marker}")):
                yield _literal(path.parent.relative_to(files).as_posix())


def _literal(path: str) -> str:
    """Return rsync's pattern for one path: in a pattern with wildcards, a backslash takes their meaning."""
    return re.sub(r"([\\*?[])", r"\\\1", path) if re.search(r"[*?[]", path) else path


def _sizes(files: Path, names: Sequence[str] | set[str]) -> Iterator[tuple[str, int]]:
    for folder, folders, found in os.walk(files):
        folders[:] = [name for name in folders if name not in names]
        top = Path(folder).relative_to(files).parts[:1]
        for name in found:
            try:
                yield (top[0] if top else name), os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
