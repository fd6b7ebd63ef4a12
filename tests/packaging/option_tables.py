"""Write the options' lines in the docstrings of `tune/tune.py`: python tests/packaging/option_tables.py

The texts are those of `overtone.experiment`; lines of arguments that are not options stay as they are.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

from overtone import option
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.option import Option
from overtone.tune import tune

WIDTH = 110


def declared(holder: str) -> dict[str, Option]:
    """Return the options that are arguments of `run`, or fields of a class, by their names there."""
    every = [*option.options(Experiment).values(), *option.options(CheckpointPolicy).values()]
    if holder != "run":
        return {one.config_name: one for one in every if holder in one.config.split(" or ")}
    return {one.argument: one for one in reversed(every)}


def rewritten(source: str) -> str:
    """Return the source of a module with the options' lines in its docstrings."""
    lines = source.splitlines()
    for node in reversed(ast.parse(source).body):
        options = declared(node.name) if isinstance(node, ast.FunctionDef | ast.ClassDef) else {}
        if options:
            texts = {name: text for one in options.values() for name, text in one.also.items()}
            texts |= {name: one.text for name, one in options.items()}
            _rewrite(lines, node, texts)
    return "\n".join([*lines, ""])


def _rewrite(lines: list[str], node: ast.stmt, texts: dict[str, str]) -> None:
    at = next(
        n for n in range(node.lineno, len(lines)) if re.fullmatch(r"( {4})+(Args|Attributes):", lines[n])
    )
    indent = " " * 4 + lines[at][: -len(lines[at].lstrip())]
    end = next(n for n in range(at + 1, len(lines)) if not lines[n].startswith(indent))
    entries = re.split(rf"\n(?={indent}\w)", "\n".join(lines[at + 1 : end]))
    described = {entry.split(":")[0].strip(): entry for entry in entries if entry}
    wrap = {"width": WIDTH, "initial_indent": indent, "subsequent_indent": f"{indent}    "}
    described |= {name: textwrap.fill(f"{name}: {text}", **wrap) for name, text in texts.items()}
    lines[at + 1 : end] = "\n".join(described[name] for name in _names(node)).splitlines()


def _names(node: ast.stmt) -> list[str]:
    """Return the names of a function's arguments, or of a dataclass's fields, in their order."""
    if isinstance(node, ast.ClassDef):
        return [one.target.id for one in node.body if isinstance(one, ast.AnnAssign)]  # type: ignore[union-attr]
    assert isinstance(node, ast.FunctionDef)
    every = [*node.args.args, *node.args.kwonlyargs, node.args.kwarg]
    return [one.arg for one in every if one is not None]


if __name__ == "__main__":
    path = Path(tune.__file__)
    path.write_text(rewritten(path.read_text("utf-8")), "utf-8")
