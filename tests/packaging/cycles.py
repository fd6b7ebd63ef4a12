"""List the import cycles of the package, imports inside functions and for type checkers included.

    python tests/packaging/cycles.py

A cycle is a set of modules in which each one leads to each other one. Names that `overtone.lazy` looks up do
not count, nor that importing a module imports the packages around it. Exits with 1 if there is a cycle.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "src"
EARLY, LATE, TYPES = "when the module is imported", "in a function", "for type checkers"


class Import(NamedTuple):
    """One import statement's edge between modules; `kind` is EARLY, LATE or TYPES."""

    importer: str
    imported: str
    line: int
    kind: str


def imports(source: Path) -> list[Import]:
    """Return the imports between the modules below this folder of packages."""
    files = {module_name(file, source): file for file in sorted(source.rglob("*.py"))}
    found = []
    for name, file in files.items():
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        for node, kind in import_nodes(ast.parse(file.read_text("utf-8")), EARLY):
            targets = {target for names in candidates(node, package) if (target := first_in(files, names))}
            found += [Import(name, target, node.lineno, kind) for target in sorted(targets - {name})]
    return found


def module_name(file: Path, source: Path) -> str:
    parts = file.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_nodes(node: ast.AST, kind: str) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """Yield each import below a node of this kind, and the import's own kind."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, kind
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from import_nodes(ast.Module(child.body, []), TYPES)
            yield from import_nodes(ast.Module(child.orelse, []), kind)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from import_nodes(child, LATE if kind == EARLY else kind)
        else:
            yield from import_nodes(child, kind)


def candidates(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[list[str]]:
    """Yield, for each name that the statement imports, the modules that it may be, likeliest first."""
    if isinstance(node, ast.Import):
        yield from ([alias.name] for alias in node.names)
        return
    parents = package.split(".")
    base = (
        ".".join([*parents[: len(parents) - node.level + 1], node.module or ""])
        if node.level
        else node.module
    )
    base = (base or "").rstrip(".")
    yield from ([f"{base}.{alias.name}", base] for alias in node.names)


def first_in(files: dict[str, Path], names: list[str]) -> str | None:
    return next((name for name in names if name in files), None)


def cycles(edges: list[Import]) -> list[list[str]]:
    """Return the strongly connected components of two or more modules, the largest first."""
    following: dict[str, set[str]] = {}
    for edge in edges:
        following.setdefault(edge.importer, set()).add(edge.imported)
    reached = {module: reachable(module, following) for module in following}
    components = {
        frozenset(other for other in reached[module] if module in reached.get(other, ()))
        for module in following
        if module in reached[module]
    }
    return sorted((sorted(component) for component in components), key=lambda names: (-len(names), names))


def reachable(module: str, following: dict[str, set[str]]) -> set[str]:
    """Return the modules that `module` leads to; itself only if a cycle leads back."""
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        new = following.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached


def main() -> None:
    edges = imports(SOURCE)
    components = cycles(edges)
    for number, names in enumerate(components, 1):
        print(f"{number}. {len(names)} modules")
        for edge in edges:
            if edge.importer in names and edge.imported in names:
                note = "" if edge.kind == EARLY else f"  ({edge.kind})"
                print(f"   {edge.importer}:{edge.line} -> {edge.imported}{note}")
    n_running = len(cycles([edge for edge in edges if edge.kind != TYPES]))
    n_early = len(cycles([edge for edge in edges if edge.kind == EARLY]))
    print(
        f"{len(components)} cycles; {n_running} without imports for type checkers, "
        f"{n_early} without imports in functions too"
    )
    sys.exit(bool(components))


if __name__ == "__main__":
    main()
