"""Write the table of `docs/coming-from-ray-tune.md`: python tests/packaging/ray_table.py

It compares the names of `ray_surface.txt` with Overtone. `ray_names.toml` says why a name is missing or how it
differs, and the tests in `tests/ray_behaviour` say what they cover. `--missing` prints the names without a
reason, `--untested` those without a test.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import tomllib

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
BEHAVIOUR = HERE.parent / "ray_behaviour"
SOURCE = HERE.parents[1] / "src" / "overtone"
PAGE = HERE.parents[1] / "docs" / "coming-from-ray-tune.md"
REASONS = HERE / "ray_names.toml"
BEGIN, END = "<!-- begin of the generated table -->", "<!-- end of the generated table -->"

from ray_surface import Name, recorded  # noqa: E402

ABSENT = object()


def found(path: str) -> Any:
    """Return Overtone's counterpart of a name; ABSENT if there is none.

    Of a module that needs a missing package, the counterpart is a node of its syntax tree.
    """
    words = path.split(".")
    for count in range(len(words), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(["overtone", *words[:count]]))
        except ImportError:
            source = (SOURCE / Path(*words[:count])).with_suffix(".py")
            if source.is_file():
                return _in_tree(ast.parse(source.read_text("utf-8")), words[count:])
            continue
        for word in words[count:]:
            value = (
                inspect.getattr_static(value, word, ABSENT)
                if isinstance(value, type)
                else getattr(value, word, ABSENT)
            )
            value = getattr(value, "__func__", value)
            if value is ABSENT:
                return ABSENT
        return value
    return ABSENT


def _in_tree(tree: ast.AST, words: list[str]) -> Any:
    """Return the class or function that the words lead to; a class's members may be in a base of the same module."""
    node: Any = tree
    for word in words:
        node = next((one for one in _members(tree, node) if getattr(one, "name", "") == word), ABSENT)
        if node is ABSENT:
            return ABSENT
    if isinstance(node, ast.ClassDef):
        return _in_tree(tree, [*words, "__init__"]) if not words[-1].startswith("__") else node
    return node


def _members(tree: Any, node: Any) -> Iterator[Any]:
    yield from node.body
    for base in getattr(node, "bases", ()):
        for one in tree.body:
            if isinstance(one, ast.ClassDef) and isinstance(base, ast.Name) and one.name == base.id:
                yield from _members(tree, one)


def parameters(value: Any) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function or class by their names."""
    if isinstance(value, ast.FunctionDef):
        return dict.fromkeys(one.arg for one in [*value.args.args, *value.args.kwonlyargs])  # type: ignore[arg-type]
    try:
        return dict(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return {}


class Comparison:
    """Ray's public names, and which of them Overtone has.

    Names are written as in the reasons: "tune.run", and "tune.run: metric" for an argument.
    """

    names: list[Name]

    def __init__(self) -> None:
        self.names = recorded()

    @cached_property
    def tested(self) -> set[str]:
        """The names and arguments with a behaviour test that passes with Ray and with Overtone."""
        return set(_tested())

    @cached_property
    def arguments(self) -> dict[str, bool]:
        """Whether Overtone takes each argument."""
        return {
            f"{one.path}: {argument}": self._takes(one, argument)
            for one in self.names
            for argument in one.arguments
        }

    @cached_property
    def has(self) -> dict[str, bool]:
        """Whether Overtone has each name."""
        return {one.path: found(one.path) is not ABSENT or one.path in self.tested for one in self.names}

    def _takes(self, name: Name, argument: str) -> bool:
        if f"{name.path}: {argument}" in self.tested:
            return True
        value = found(name.path)
        if value is ABSENT:
            return False
        if is_dataclass(value) and argument in value.__dataclass_fields__:
            return True
        return argument in parameters(value)

    @property
    def missing(self) -> list[str]:
        """The names and arguments that Overtone lacks."""
        return [name for name, had in {**self.has, **self.arguments}.items() if not had]


@dataclass(frozen=True)
class Reason:
    """Why names are missing, or how they differ."""

    patterns: tuple[str, ...]
    text: str

    def matches(self, name: str) -> bool:
        """Return whether the reason is about a name; about a class or function means about its members and arguments, too."""
        return any(
            fnmatchcase(name, pattern)
            or fnmatchcase(name, f"{pattern}.*")
            or fnmatchcase(name, f"{pattern}: *")
            for pattern in self.patterns
        )


def reasons(kind: str) -> list[Reason]:
    """Return the reasons of a kind: "missing" or "differs"."""
    stated = tomllib.loads(REASONS.read_text("utf-8"))[kind]
    return [Reason(tuple(one["names"]), one["why" if kind == "missing" else "how"]) for one in stated]


def covered(module: ModuleType) -> Iterator[tuple[str, list[str]]]:
    """Yield the tests of a module and what they cover, an argument each."""
    for name, value in vars(module).items():
        for mark in getattr(value, "pytestmark", []) if name.startswith("test_") else []:
            if mark.name == "covers":
                yield name, [one for text in mark.args for one in spelt_out(text)]


def spelt_out(text: str) -> list[str]:
    """Return "a: b c" as ["a", "a: b", "a: c"]."""
    path, _, arguments = text.partition(":")
    return [path, *[f"{path}: {argument}" for argument in arguments.split()]]


def behaviour_tests() -> Iterator[tuple[str, list[str]]]:
    """Yield the behaviour tests as "file::name", and what they cover."""
    sys.path.insert(0, str(BEHAVIOUR))
    for path in sorted(BEHAVIOUR.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"ray_behaviour_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, what in covered(module):
            yield f"{path.stem}::{name}", what


def outcomes() -> dict[str, str]:
    """Return the recorded outcomes with Ray."""
    return dict(json.loads((BEHAVIOUR / "outcomes.json").read_text("utf-8")))


def differences() -> dict[str, str]:
    """Return the tests that Overtone is meant to fail, and why."""
    return tomllib.loads((BEHAVIOUR / "differences.toml").read_text("utf-8"))


def _tested() -> Iterator[str]:
    with_ray, without = outcomes(), differences()
    for test, what in behaviour_tests():
        runs = {
            name: outcome == "passed" and name not in without
            for name, outcome in with_ray.items()
            if name.split("[")[0] == test
        }
        for name in what:
            of_the_name = [passes for run, passes in runs.items() if _is_about(run, name)]
            if runs and all(of_the_name or runs.values()):
                yield name


def _is_about(run: str, name: str) -> bool:
    """Return whether the parameter of a test's run is a name, a module that it is in, or a part of its path."""
    parameter = run.partition("[")[2].removesuffix("]")
    return bool(parameter) and (
        name == parameter or name.startswith(f"{parameter}.") or f".{parameter}." in name
    )


def table(comparison: Comparison) -> str:
    """Return the generated part of the page."""
    missing, differs = reasons("missing"), reasons("differs")
    paths = {one.path for one in comparison.names}
    aliases: dict[str, list[str]] = {}
    for one in comparison.names:
        if one.home:
            aliases.setdefault(one.home, []).append(one.path)
    lines = [
        *_figures(comparison),
        "",
        "| Ray Tune | Overtone | arguments and members | differences and reasons |",
        "|---|---|---|---|",
    ]
    for one in comparison.names:
        if (
            one.home
            or one.kind == "module"
            or (one.path.rpartition(".")[0] in paths and one.kind in ("method", "attribute"))
        ):
            continue
        members = [
            each
            for each in comparison.names
            if each.path.startswith(f"{one.path}.") and each.kind in ("method", "attribute")
        ]
        whole = [one.path, *[f"{one.path}: {argument}" for argument in one.arguments]]
        for each in members:
            whole += [each.path, *[f"{each.path}: {argument}" for argument in each.arguments]]
        had = {name: {**comparison.has, **comparison.arguments}[name] for name in whole}
        state = "no" if not had[one.path] else "yes" if all(had.values()) else "partly"
        lacking = [name for name, is_had in had.items() if not is_had]
        notes = [f"`{_short(one.path, lack)}`" for lack in lacking] if state == "partly" else []
        why = [reason.text for reason in missing if any(reason.matches(name) for name in lacking)]
        how = [reason.text for reason in differs if any(reason.matches(name) for name in whole)]
        shown = " ".join([*([f"Without {', '.join(notes)}."] if notes else []), *dict.fromkeys([*why, *how])])
        also = f" (also `{'`, `'.join(aliases[one.path])}`)" if one.path in aliases else ""
        lines.append(f"| `{one.path}`{also} | {state} | {_listed(one, members)} | {shown} |")
    lines += ["", "Modules that Overtone lacks; importing them says what to use instead:", ""]
    for one in comparison.names:
        if one.kind == "module" and not comparison.has[one.path]:
            why = [reason.text for reason in missing if reason.matches(one.path)]
            lines.append(f"- `{one.path}`: {' '.join(dict.fromkeys(why))}")
    return "\n".join(lines)


def _short(owner: str, name: str) -> str:
    return name.removeprefix(f"{owner}.").removeprefix(f"{owner}: ").replace(": ", "(") + (
        ")" if name.startswith(f"{owner}.") and ": " in name else ""
    )


def _listed(one: Name, members: list[Name]) -> str:
    own = [f"`{one.path.rpartition('.')[2]}({', '.join(one.arguments)})`"] if one.arguments else []
    rest = [
        f"`.{each.path.rpartition('.')[2]}" + (f"({', '.join(each.arguments)})`" if each.arguments else "`")
        for each in members
    ]
    return ", ".join([*own, *rest])


def figures(comparison: Comparison, for_users: bool = False) -> dict[str, tuple[int, int]]:
    """Return counts, each with its total.

    Args:
        comparison: The comparison.
        for_users: Whether names that Ray marks as made for developers of libraries are left out.
    """
    paths = {one.path for one in comparison.names if one.for_users or not for_users}
    has = {name: had for name, had in comparison.has.items() if name in paths}
    arguments = {name: had for name, had in comparison.arguments.items() if name.partition(":")[0] in paths}
    tested = comparison.tested
    return {
        "names that Overtone has": (sum(has.values()), len(has)),
        "names with a behaviour test that passes": (len(tested & has.keys()), len(has)),
        "arguments that Overtone takes": (sum(arguments.values()), len(arguments)),
        "arguments with a behaviour test that passes": (len(tested & arguments.keys()), len(arguments)),
    }


def _figures(comparison: Comparison) -> list[str]:
    every, users = figures(comparison), figures(comparison, for_users=True)
    lines = ["| | of all in Ray 2.60 | of those for users |", "|---|--:|--:|"]
    return [*lines, *(f"| {what} | {_share(every[what])} | {_share(users[what])} |" for what in every)]


def _share(counts: tuple[int, int]) -> str:
    count, total = counts
    return f"{count:,} of {total:,}: {100 * count / total:.1f} %"


def rewritten(page: str, comparison: Comparison) -> str:
    """Return the page with today's table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table(comparison)}\n\n{END}{after}"


if __name__ == "__main__":
    compared = Comparison()
    if "--missing" in sys.argv:
        stated = reasons("missing")
        print("\n".join(name for name in compared.missing if not any(one.matches(name) for one in stated)))
    elif "--untested" in sys.argv:
        print("\n".join(sorted({**compared.has, **compared.arguments}.keys() - compared.tested)))
    else:
        PAGE.write_text(rewritten(PAGE.read_text("utf-8"), compared), "utf-8")
    print("\n".join(_figures(compared)), file=sys.stderr)
