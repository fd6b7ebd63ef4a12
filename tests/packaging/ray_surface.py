"""List the public names of Ray Tune: .venv/ray/bin/python tests/packaging/ray_surface.py

It writes `ray_surface.txt` beside it: one line for each module, class, function, method, attribute and
constant of `ray.tune`, `ray.air` and the part of `ray.train` that trials and their scripts use, with the names
of its arguments. `ray_table.py` compares Overtone with that file.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

SURFACE = Path(__file__).with_name("ray_surface.txt")

SKIPPED = {"automl", "cli", "examples", "experimental", "impl", "mock", "release_test_util", "tests"}
"""Modules that are commands, listings, tests, or private by another name."""

INTERNAL = (
    "air.constants",
    "air.execution",
    "air.util",
    "train.constants",
    "tune.execution.tune_controller",
    "tune.schedulers.pb2_utils",
)
"""Modules of Ray's own parts: names without a mark are for developers there."""

TRAIN = ("Checkpoint", "CheckpointConfig", "DataConfig", "FailureConfig", "Result", "RunConfig", "ScalingConfig",
         "SyncConfig", "TrainContext", "TrainingFailedError", "get_checkpoint", "get_context", "get_dataset_shard",
         "report")  # fmt: skip
"""What trials and scripts of searches use of `ray.train`; the rest trains groups of workers."""


@dataclass(frozen=True, order=True)
class Name:
    """A public name.

    Attributes:
        path: Its dotted path without "ray."; for members with the class at its home.
        kind: "module", "class", "function", "constant", "method" or "attribute".
        arguments: The names of its arguments; an alias has none.
        home: The path where an alias is defined; "" if this is not an alias.
        for_users: Whether Ray does not mark it as made for developers of libraries.
    """

    path: str
    kind: str
    arguments: tuple[str, ...] = ()
    home: str = ""
    for_users: bool = True

    def __str__(self) -> str:
        kind = self.kind if self.for_users else f"{self.kind}/developers"
        return " ".join([self.path, kind, *([f"={self.home}"] if self.home else []), *self.arguments])

    @classmethod
    def parse(cls, line: str) -> Name:
        """Return the name of a line of the file."""
        path, kind, *rest = line.split()
        home = rest.pop(0)[1:] if rest and rest[0].startswith("=") else ""
        kind, _, mark = kind.partition("/")
        return cls(path, kind, tuple(rest), home, not mark)


def recorded() -> list[Name]:
    """Return the names of the file."""
    lines = SURFACE.read_text("utf-8").splitlines()
    return [Name.parse(line) for line in lines if line and not line.startswith("#")]


def surface() -> list[Name]:
    """Return the public names of the installed Ray."""
    names: dict[str, Name] = {}
    homes: dict[int, str] = {}
    modules = sorted(_modules(), key=lambda pair: (pair[0].count("."), pair[0]))
    for path, module in modules:
        names[path] = Name(path, "module")
        found = _of_source(path, module) if isinstance(module, Path) else _of_module(path, module)
        for name, value in found:
            shown = f"{path}.{name}"
            if isinstance(value, Name):
                names[shown] = replace(value, for_users=not path.startswith(INTERNAL))
            elif id(value) in homes and callable(value):
                names[shown] = Name(shown, _kind(value), home=homes[id(value)])
            else:
                homes[id(value)] = shown
                own = {
                    one.path: replace(one, for_users=_is_for_users(path, value))
                    for one in _described(shown, value)
                }
                names |= own
    for name, one in names.items():
        if one.home:
            names[name] = replace(one, for_users=names[one.home].for_users)
    served = {
        word
        for one in names.values()
        if one.for_users and one.kind != "module"
        for word in _parents(one.path)
    }
    for name, one in names.items():
        if one.kind == "module":
            names[name] = replace(one, for_users=name in served)
    return sorted(names.values())


def _parents(path: str) -> Iterator[str]:
    """Yield the modules and classes that a name is in."""
    words = path.split(".")
    yield from (".".join(words[:count]) for count in range(1, len(words)))


def _modules() -> Iterator[tuple[str, ModuleType | Path]]:
    """Yield paths and modules; for a module whose packages are missing, the path of its source."""
    for root in ("ray.tune", "ray.air"):
        yield from _below(root)
    for path in ("ray.train", "ray.train.constants", "ray.train.torch"):
        yield path.removeprefix("ray."), importlib.import_module(path)


def _below(path: str) -> Iterator[tuple[str, ModuleType | Path]]:
    module = importlib.import_module(path)
    yield path.removeprefix("ray."), module
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if found.name.startswith("_") or found.name in SKIPPED:
            continue
        inner = f"{path}.{found.name}"
        try:
            yield from _below(inner)
        except ImportError:
            assert found.module_finder is not None
            yield inner.removeprefix("ray."), Path(found.module_finder.path) / f"{found.name}.py"  # type: ignore[union-attr]


def _of_module(path: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
    listed = TRAIN if path == "train" else getattr(module, "__all__", None)
    defined = set(_defined(Path(str(module.__file__))))
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or inspect.ismodule(value):
            continue
        own = name in defined and callable(value) and str(getattr(value, "__module__", "")).startswith("ray.")
        constant = path.endswith((".result", ".constants")) and name.isupper()
        if name in (listed or ()) or (path != "train" and (own or constant)):
            yield name, value


def _defined(source: Path) -> Iterator[str]:
    """Yield the names that a module defines itself."""
    for node in ast.parse(source.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):  # another name of a class
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _of_source(path: str, source: Path) -> Iterator[tuple[str, Name]]:
    """Yield the classes and functions of a module that cannot be imported here."""
    for node in ast.parse(source.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name, Name(f"{path}.{node.name}", "function", _written(node))
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
            first = methods.get("__init__")
            yield node.name, Name(f"{path}.{node.name}", "class", _written(first) if first else ())
            for name, one in methods.items():
                if not name.startswith("_"):
                    yield f"{node.name}.{name}", Name(f"{path}.{node.name}.{name}", "method", _written(one))


def _written(node: ast.FunctionDef) -> tuple[str, ...]:
    given = [one.arg for one in [*node.args.args, *node.args.kwonlyargs]]
    return tuple(name for name in given if name not in ("self", "cls") and not name.startswith("_"))


def _is_for_users(module: str, value: Any) -> bool:
    """Return whether Ray's own mark of a name, or else its module, is not for developers."""
    mark = vars(value).get("_annotated_type") if callable(value) and hasattr(value, "__dict__") else None
    if mark is not None and vars(value).get("_annotated") == value.__name__:
        return str(mark.value) == "PublicAPI"
    return not module.startswith(INTERNAL)


def _kind(value: Any) -> str:
    return "class" if inspect.isclass(value) else "function" if callable(value) else "constant"


def _described(path: str, value: Any) -> Iterator[Name]:
    kind = _kind(value)
    if kind != "class":
        yield Name(path, kind, _arguments(value) if kind == "function" else ())
        return
    plain = issubclass(value, BaseException | Enum | tuple) or inspect.isabstract(value)
    yield Name(path, kind, () if plain else _arguments(value))
    known = {name for one in value.__mro__ if one.__module__.startswith("ray.") for name in vars(one)}
    if is_dataclass(value):
        known -= {one.name for one in fields(value)}  # they are arguments
    for name in sorted(known):
        member = inspect.getattr_static(value, name)
        if name.startswith("_") or inspect.isclass(member) or _is_inherited(value, name):
            continue
        if isinstance(member, staticmethod | classmethod) or inspect.isfunction(member):
            yield Name(f"{path}.{name}", "method", _arguments(getattr(value, name)))
        else:
            yield Name(f"{path}.{name}", "attribute")


def _is_inherited(owner: type, name: str) -> bool:
    """Return whether a public base in the same package has this member with these arguments: it is listed there."""
    package = owner.__module__.split(".")[1]
    bases = [
        one
        for one in owner.__mro__[1:]
        if one.__module__.startswith(f"ray.{package}") and one.__name__[0] != "_"
    ]
    own = getattr(owner, name)
    return any(hasattr(one, name) and _arguments(getattr(one, name)) == _arguments(own) for one in bases)


def _arguments(value: Any) -> tuple[str, ...]:
    """Return the names of the arguments; those that start with an underscore are private."""
    try:
        given = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return ()
    open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return tuple(
        one.name for one in given
        if one.name != "self" and not one.name.startswith("_") and one.kind not in open_ended
    )  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ["RAY_TRAIN_V2_ENABLED"] = "0"  # Its other form is not for trials of a search.
    import ray

    heading = f"# public names of Ray {ray.__version__}: path, kind, =home of an alias, arguments\n"
    SURFACE.write_text(heading + "".join(f"{name}\n" for name in surface()), "utf-8")
