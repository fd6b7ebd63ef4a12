"""Strict YAML with the line of each key: double keys, tags that make objects and alias bombs are errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overtone.cluster.config import ConfigError
from overtone.errors import MissingPackageError

MAX_BYTES = 1_000_000
MAX_NODES = 20_000
"""Values in a document, those of an alias counted wherever it stands."""

MAX_DEPTH = 60

_PLAIN_TAG = "tag:yaml.org,2002:"
_PLAIN = frozenset({"null", "bool", "int", "float", "str", "seq", "map", "merge", "value"})


def read_yaml(path: Path) -> tuple[Any, dict[str, int]]:
    """Return the value of a YAML file, and the line of each of its keys.

    Raises:
        ConfigError: The file cannot be read, or is not plain YAML; the message names the line.
        MissingPackageError: PyYAML is missing.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{path}: is larger than {MAX_BYTES:,} bytes, so it is not a cluster's config")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line}: is not UTF-8: save the file as UTF-8") from None
    return parse_yaml(text, path)


def parse_yaml(text: str, source: Path) -> tuple[Any, dict[str, int]]:
    """Return the value of a YAML text, and the line of each of its keys, from 1.

    A key's name has those above it, such as "workers.max"; items of lists have their index, "setup.0".

    Raises:
        ConfigError: The text is not plain YAML; the message names the source and the line.
        MissingPackageError: PyYAML is missing.
    """
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise MissingPackageError("PyYAML", "ray", "a cluster's config is YAML, which") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc,unused-ignore]
        """Reads dates as texts: a config has none, and a text that looks like one may not be a date."""

    Loader.yaml_implicit_resolvers = {
        first: [one for one in resolvers if not one[0].endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        loader = Loader(text)
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise ConfigError(f"{source}:{line}: has a character that YAML does not allow: remove it") from None
    try:
        node = loader.get_single_node()
        if node is None:
            return None, {}
        _check(loader, node, source)
        value = loader.construct_document(node)
    except ConfigError:
        raise
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(text, source, error) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{source}: is not YAML: {error}") from None
    finally:
        loader.dispose()
    return value, dict(_lines(node, ""))


def _check(loader: Any, root: Any, source: Path) -> None:
    """Refuse what a plain config does not have, before any value is made."""
    count, stack = 0, [(root, 0)]
    while stack:
        node, depth = stack.pop()
        count += 1
        line = node.start_mark.line + 1
        if count > MAX_NODES or depth > MAX_DEPTH:
            raise ConfigError(
                f"{source}:{line}: aliases (*name) or nesting make this file too large: "
                f"at most {MAX_NODES:,} values, {MAX_DEPTH} levels deep"
            )
        kind = node.tag.removeprefix(_PLAIN_TAG)
        if kind not in _PLAIN:
            raise ConfigError(
                f"{source}:{line}: {node.tag.replace(_PLAIN_TAG, '!!')}: tags that make objects are not "
                "allowed: write the plain value, and quote a text that begins with !"
            )
        if kind in ("int", "float") and ":" in node.value:
            raise ConfigError(
                f"{source}:{line}: {node.value} is a number to the base 60 in YAML: "
                "write a plain number, or quotes"
            )
        if node.id == "scalar":
            _check_scalar(loader, node, source)
        elif node.id == "mapping":
            _check_keys(node, source)
            stack += [(one, depth + 1) for pair in node.value for one in pair]
        elif node.id == "sequence":
            stack += [(one, depth + 1) for one in node.value]


def _check_scalar(loader: Any, node: Any, source: Path) -> None:
    """Refuse a tag that does not fit its text, such as `!!int x`."""
    try:
        loader.construct_object(node)
    except Exception:  # PyYAML raises IndexError, KeyError or ValueError, as it happens
        line, tag = node.start_mark.line + 1, node.tag.replace(_PLAIN_TAG, "!!")
        raise ConfigError(
            f"{source}:{line}: {tag} {node.value}: is not a value of this tag: remove it"
        ) from None


def _check_keys(node: Any, source: Path) -> None:
    seen: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if key.id != "scalar":
            raise ConfigError(f"{source}:{line}: a key must be one word, such as name")
        if key.value in seen and not key.tag.endswith(":merge"):
            raise ConfigError(
                f"{source}:{line}: {key.value} is there twice, first in line {seen[key.value]}: remove one"
            )
        seen[key.value] = line


def _lines(node: Any, place: str) -> Iterator[tuple[str, int]]:
    children: list[tuple[str, Any, Any]] = []
    if node.id == "mapping":
        children = [(str(key.value), key, value) for key, value in node.value]
    elif node.id == "sequence":
        children = [(str(index), one, one) for index, one in enumerate(node.value)]
    for name, at, value in children:
        path = f"{place}.{name}" if place else name
        yield path, at.start_mark.line + 1
        yield from _lines(value, path)


def _syntax_error(text: str, source: Path, error: Any) -> ConfigError:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    written = text.splitlines()[line - 1 : line] or [""]
    if "\t" in written[0][: len(written[0]) - len(written[0].lstrip())] or "\\t" in str(error.problem):
        return ConfigError(f"{source}:{line}: a tab indents this line: YAML allows spaces only")
    if "undefined alias" in str(error.problem):
        return ConfigError(f"{source}:{line}: {error.problem}: quote a text that begins with *")
    if mark is not None and "another document" in f"{error.problem} {error.context}":
        return ConfigError(f"{source}:{line}: --- begins a second document: one file has one cluster")
    hint = ": indent keys of one block alike, and put a space after each colon"
    return ConfigError(f"{source}:{line}: is not YAML: {error.problem or error}{hint}")
