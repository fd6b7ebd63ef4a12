"""Every module of the installed Ray Tune, Train and AIR has an answer here."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

ROOT = "overtone."
PARTS = ("tune", "train", "air", "util")


def paths_of_ray() -> list[str]:
    """The modules of Ray's folders, without its tests."""
    root = Path(importlib.util.find_spec("ray").origin).parent
    found = []
    for file in (file for part in PARTS for file in (root / part).rglob("*.py")):
        path = file.relative_to(root).with_suffix("")
        names = path.parts[:-1] if path.name == "__init__" else path.parts
        if "tests" not in names and all(name.isidentifier() for name in names):
            found.append(".".join(names))
    return sorted(found)


def answer(path: str) -> str:
    """What an import of the path here leads to: the module, or the first words of the error."""
    try:
        importlib.import_module(ROOT + path)
    except ModuleNotFoundError as error:
        return f"missing: {error}"
    except ImportError as error:
        return f"error: {error}"
    return "module"


def test_no_module_of_ray_is_simply_missing():
    paths = [path for path in paths_of_ray() if not path.startswith("util")]
    assert len(paths) > 300
    answers = {path: answer(path) for path in paths}
    assert {path: text for path, text in answers.items() if text.startswith("missing")} == {}
    errors = [text for text in answers.values() if text != "module"]
    assert [
        text for text in errors if not text.startswith(f"error: there is no {ROOT}") and " needs " not in text
    ] == []
    assert sum(text == "module" for text in answers.values()) > 80


def test_util_is_that_of_the_installed_ray():
    import ray.util
    import ray.util.multiprocessing
    from overtone.util.multiprocessing import Pool

    from overtone.util import ActorPool, multiprocessing

    assert ActorPool is ray.util.ActorPool
    assert Pool is multiprocessing.Pool is ray.util.multiprocessing.Pool
