"""A hash of a trainable's own code, which tells a resume whether that code was edited."""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
import textwrap
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from io import StringIO
from types import CodeType, FunctionType, MethodType
from typing import Any

from overtone.worker.trainables.with_parameters import as_bound

_OWN = "overtone."
_LINE_ENDS = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE)


def source_hash(trainable: Any) -> dict[str, str]:
    """Return hashes of the trainable's own code; empty where it has none of the user's.

    Comments, blank lines, trailing spaces and the indentation of the whole do not count. Wrappers
    are looked through: partials, `with_parameters`, methods, decorators that keep `__wrapped__`,
    and functions in a decorator's closure. A class counts with its bases of the same module.
    Functions that the trainable calls, and modules that it imports, are not covered.

    Returns:
        "text": Of the source, the same on each machine and version of Python. Missing where there is no
            source (`exec`, `python -c`), or where its file was written since this process began.
        "code-3.11": Of the compiled code, for that version of Python alone.
    """
    try:
        parts = list(_parts(as_bound(trainable).trainable, set()))
    except Exception:  # An unusual user object: no hash, no error.
        return {}
    texts = [text for text, _ in parts]
    found = {"text": _digest(texts)} if all(texts) else {}
    version = f"code-{sys.version_info[0]}.{sys.version_info[1]}"
    return {**found, version: _digest([code for _, code in parts])} if parts else {}


def parameter_hashes(trainable: Any) -> dict[str, str]:
    """Return a hash of each argument that is bound to the trainable; the type where it is not plain data."""
    bound = as_bound(trainable)
    given, part = dict(bound.parameters), bound.trainable
    while isinstance(part, functools.partial):
        positional = {str(i): value for i, value in enumerate(part.args)}
        given = {**positional, **part.keywords, **given}
        part = part.func
    return {name: value_hash(value) for name, value in given.items()}


def value_hash(value: Any) -> str:
    """Return a hash of plain data or of a path, which shows no secret; of all else its type."""
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    try:
        return _digest([json.dumps(value, sort_keys=True)])
    except (TypeError, ValueError, RecursionError):
        return f"{type(value).__module__}.{type(value).__qualname__}"


def is_same_source(old: Mapping[str, str], new: Mapping[str, str]) -> bool | None:
    """Return whether two results of `source_hash` are of the same code; None where that is unknown."""
    kinds = [one for one in old if one in new]
    kind = "text" if "text" in kinds else next(iter(kinds), None)
    return None if kind is None else old[kind] == new[kind]


def _digest(bodies: Iterable[str]) -> str:
    return blake2b("\0".join(bodies).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _parts(part: Any, seen: set[int]) -> Iterator[tuple[str, str]]:
    """Yield the functions and classes of a trainable, each as its source, if known, and its code."""
    while isinstance(part, (functools.partial, MethodType)):
        part = part.func if isinstance(part, functools.partial) else part.__func__
    part = inspect.unwrap(part) if callable(part) else part
    if id(part) in seen:
        return
    seen.add(id(part))
    if isinstance(part, FunctionType):
        yield _function(part)
        for cell in part.__closure__ or ():
            yield from _in_cell(cell, seen)
    elif isinstance(part, type):
        for kind in part.__mro__:
            if kind.__module__ == part.__module__ and not f"{kind.__module__}.".startswith(_OWN):
                yield _class(kind)
    elif callable(part) and type(part) is not type(print):
        yield from _parts(type(part), seen)


def _in_cell(cell: Any, seen: set[int]) -> Iterator[tuple[str, str]]:
    try:
        held = cell.cell_contents
    except ValueError:  # not bound yet
        return
    if isinstance(held, (FunctionType, MethodType, functools.partial)):
        yield from _parts(held, seen)


def _function(function: FunctionType) -> tuple[str, str]:
    code = function.__code__
    return _lambda_text(code) if function.__name__ == "<lambda>" else _text(function), _compiled(code)


def _class(kind: type) -> tuple[str, str]:
    members = vars(kind)
    methods = (getattr(members[name], "__func__", members[name]) for name in sorted(members))
    codes = [_compiled(one.__code__) for one in methods if isinstance(one, FunctionType)]
    return _text(kind), "\n".join([kind.__qualname__, *codes])


def _text(part: Any) -> str:
    """Return the normalised source of a function or class; "" if it is not known."""
    try:
        return "" if _is_edited(part) else _normalised(textwrap.dedent(inspect.getsource(part)))
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        return ""


def _is_edited(part: Any) -> bool:
    """Return whether the file of `part` was written since this process began: its code may differ."""
    import psutil

    file = inspect.getsourcefile(part)
    if file is None or not os.path.exists(file):  # a notebook's cell
        return False
    return os.stat(file).st_mtime > psutil.Process().create_time()


def _lambda_text(code: CodeType) -> str:
    """Return the normalised body of a lambda, without other arguments of the call around it."""
    if not hasattr(code, "co_positions") or _is_edited(code):  # Python 3.10 has no positions
        return ""
    places = [one for one in code.co_positions() if None not in one and one[2:] != (0, 0)]
    try:
        lines, _ = inspect.findsource(code)
        first = min((line, column) for line, _, column, _ in places)
        last = max((line, column) for _, line, _, column in places)
        piece = [line.encode() for line in lines[first[0] - 1 : last[0]]]
        piece[-1] = piece[-1][: last[1]] if last[0] > first[0] else piece[-1][first[1] : last[1]]
        if len(piece) > 1:
            piece[0] = piece[0][first[1] :]
        body = _normalised(f"({b''.join(piece).decode()})")
    except (OSError, TypeError, ValueError, IndexError, SyntaxError, tokenize.TokenError):
        return ""
    return f"lambda {', '.join(code.co_varnames[: code.co_argcount])}: {' '.join(body.split())}"


def _normalised(source: str) -> str:
    """Return source without comments, blank lines and trailing spaces; string literals are kept."""
    lines = StringIO(source).readlines()
    for token in reversed(list(tokenize.generate_tokens(StringIO(source).readline))):
        row, column = token.start
        if token.type in _LINE_ENDS and row <= len(lines):
            kept = lines[row - 1][:column].rstrip()
            lines[row - 1] = f"{kept}\n" if kept else ""
    return "".join(lines)


def _compiled(code: CodeType) -> str:
    """Return a code object as text, without file names and line numbers."""
    constants = [_compiled(one) if isinstance(one, CodeType) else _constant(one) for one in code.co_consts]
    return repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars))


def _constant(value: Any) -> str:
    """Return a constant's `repr` with a fixed order of frozensets, which differs between processes."""
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(repr, value))})"
    return repr(value)


def main_script() -> str:
    """Return the file of the running script, or "" if there is none."""
    return str(getattr(sys.modules.get("__main__"), "__file__", "") or "")
