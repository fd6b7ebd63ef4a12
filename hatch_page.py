"""The page of the dashboard as a wheel has it: scripts with short names, and all files compressed by Brotli.

A source checkout and an editable install have the modules as they are written (docs/decisions/0029).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WEB = "overtone/ui/web"


class PageHook(BuildHookInterface):
    """Puts the modules with short names into the wheel in place of those in the repository.

    Without the packages of `[build-system]` that it needs, which only a build without isolation can lack, the
    wheel has the modules as they are written.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory(prefix="overtone-page-")
        try:
            made = make_page(Path(self.root, "src"), Path(self._folder.name))
        except ModuleNotFoundError as error:
            self.app.display_warning(f"the page keeps its long names: {error.name} is not installed")
            return
        build_data["force_include"].update({str(path): f"{WEB}/{name}" for name, path in made.items()})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()


def make_page(source: Path, folder: Path) -> dict[str, Path]:
    """Write the page below `folder`, as a wheel has it; return the new files by their paths below `WEB`.

    Args:
        source: The folder of the package `overtone`.
        folder: An empty folder.

    Raises:
        ModuleNotFoundError: Brotli or tree-sitter are not installed.
    """
    import brotli

    sys.path.insert(0, str(source))
    try:
        from overtone.ui import bundle
        from overtone.ui.compact import compact
        from overtone.ui.server.assets import page_files
    finally:
        sys.path.remove(str(source))
    shutil.copytree(bundle.WEB, folder, dirs_exist_ok=True)
    shorten = Shortener()
    modules = sorted(folder.glob("js/**/*.js"))
    for path in modules:
        try:
            path.write_text(shorten(compact(path.read_text("utf-8"))), "utf-8")
        except ValueError as error:
            raise ValueError(f"{path.relative_to(folder)}: {error}") from error
    packed = folder / bundle.PACKED
    packed.mkdir()
    before, bundle.WEB = bundle.WEB, folder
    try:
        files = page_files()
    finally:
        bundle.WEB = before
    for asset in files.values():
        (packed / f"{asset.tag}.br").write_bytes(brotli.compress(asset.body))
    return {path.relative_to(folder).as_posix(): path for path in (*modules, *packed.iterdir())}


_FUNCTIONS = {
    "arrow_function",
    "function_declaration",
    "function_expression",
    "generator_function",
    "generator_function_declaration",
    "method_definition",
}
_BLOCKS = {
    "catch_clause",
    "class_static_block",
    "for_in_statement",
    "for_statement",
    "statement_block",
    "switch_body",
}
_NAMES = {"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"}
_LEAVES = {"regex", "string"}
_KEYWORDS = {"as", "do", "if", "in", "is", "of"}
# A line break next to one of these neither ends a statement nor separates names.
_BEFORE_BREAK = {";", "{", ",", "(", "[", "=>", "=", "?", ":", "&&", "||", "...", "${"}
_BEHIND_BREAK = {"}", ")", "]", ".", ",", "?.", "?", ":", "&&", "||"}
_UNSUPPORTED = {"variable_declaration", "with_statement"}


class Scope:
    """Names declared in a function, a block or a module.

    Attributes:
        parent: The scope around it.
        names: Their new names, once there are some.
        uses: All names that are used in it or in scopes within it, each with its scope, or None for a name of
            the bundle or of the browser.
    """

    def __init__(self, parent: Scope | None) -> None:
        self.parent, self.names = parent, dict[str, str]()
        self.uses: dict[tuple[str, Scope | None], None] = {}

    def find(self, name: str) -> Scope | None:
        """Return the scope that declares the name, from here outwards."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope


class Shortener:
    """Gives short names to what a module declares; leaves out line breaks between its tokens.

    What a module imports keeps its name, and so do properties. Exports keep the names that importers know.
    tree-sitter parses the module; anything that the rules do not cover is a ValueError.
    """

    def __init__(self) -> None:
        import tree_sitter
        import tree_sitter_javascript

        language = tree_sitter.Language(tree_sitter_javascript.language())
        self._parser = tree_sitter.Parser(language)

    def __call__(self, text: str) -> str:
        source = text.encode()
        root = self._parser.parse(source).root_node
        if root.has_error:
            raise ValueError("this is not JavaScript")
        module = _Names(root)
        edits = [*module.edits(), *_joints(root), *_breaks(root, source)]
        parts, at = [], 0
        for start, end, new in sorted(edits):
            if start >= at:  # a joint covers the break in it
                parts += [source[at:start].decode(), new]
                at = end
        parts += [source[at:].decode().rstrip("\n"), "\n"]
        if module.exports:
            names = (f"{module.top.names[name]} as {name}" for name in module.exports)
            parts.append(f"export {{ {', '.join(names)} }};\n")
        return "".join(parts)


class _Names:
    """The names of a module: which are declared where, and all places where they stand."""

    def __init__(self, root: Any) -> None:
        self.top = Scope(None)
        self.exports: list[str] = []
        self._scopes = [self.top]
        self._kept: set[str] = set()
        self._places: list[tuple[Any, Scope]] = []
        self._cuts: list[tuple[int, int, str]] = []
        for node in root.children:
            self._read(node, self.top)
        for name in self._kept:
            self.top.names.pop(name, None)

    def edits(self) -> list[tuple[int, int, str]]:
        """Return the changes that give all names: first byte, end, new text."""
        found = [(node, scope, scope.find(_text(node))) for node, scope in self._places]
        for node, scope, owner in found:
            inner: Scope | None = scope
            while inner is not None:
                inner.uses[_text(node), owner] = None
                inner = None if inner is owner else inner.parent
        for scope in self._scopes:  # those around it come first
            taken = {owner.names[name] if owner else name for name, owner in scope.uses}
            # a module's own names are capitals, so that the same letters are free in each of its functions
            letters = ascii_uppercase if scope is self.top else ascii_lowercase
            new = (name for name in _short_names(letters) if name not in taken | self._kept)
            for name in scope.names:
                scope.names[name] = next(new)
        changes = list(self._cuts)
        for node, _, owner in found:
            if owner is not None:
                key = f"{_text(node)}:" if node.type != "identifier" else ""
                changes.append((node.start_byte, node.end_byte, key + owner.names[_text(node)]))
        return changes

    def _read(self, node: Any, scope: Scope) -> None:
        kind, field = node.type, node.child_by_field_name
        if kind == "import_statement":
            self._kept.update(_imported(node))
            return
        if kind == "export_statement":
            if self._read_export(node):
                return
        elif kind in _FUNCTIONS:
            self._read_function(node, scope)
            return
        elif kind in _BLOCKS:
            scope = self._scope(scope)
        declared = None
        if kind in ("variable_declarator", "class_declaration"):
            declared = field("name")
        elif kind == "catch_clause":
            declared = field("parameter")
        elif kind == "for_in_statement" and field("kind"):
            declared = field("left")
        elif kind in _UNSUPPORTED or (kind == "class" and field("name")):
            raise ValueError(f"line {node.start_point.row + 1}: {kind} is not supported")
        if declared is not None:
            self._declare(declared, scope)
        if kind in _NAMES:
            self._places.append((node, scope))
        for child in node.children:
            self._read(child, scope)

    def _read_function(self, node: Any, scope: Scope) -> None:
        inner = self._scope(scope)
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        around = scope if node.type != "function_expression" else inner
        if name is not None and node.type != "method_definition":
            self._declare(name, around)
        self._declare(node.child_by_field_name("parameters") or node.child_by_field_name("parameter"), inner)
        for child in node.children:
            if child == body and body.type == "statement_block":  # parameters and body have one scope
                for statement in body.children:
                    self._read(statement, inner)
            else:
                self._read(child, around if child == name else inner)

    def _read_export(self, node: Any) -> bool:
        """Take "export" off a declaration; return whether it is none, but a list of names."""
        declaration = node.child_by_field_name("declaration")
        if declaration is None:
            self._kept.update(_text(one) for one in _nodes(node) if one.type == "identifier")
            return True
        if declaration.type == "lexical_declaration":
            self.exports.append(_text(declaration.named_children[0].child_by_field_name("name")))
        else:
            self.exports.append(_text(declaration.child_by_field_name("name")))
        self._cuts.append((node.start_byte, declaration.start_byte, ""))
        return False

    def _declare(self, pattern: Any, scope: Scope) -> None:
        """Declare the names in a pattern, such as `{ a, b: [c = 1], ...d }`."""
        match pattern.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                scope.names[_text(pattern)] = ""
            case "array_pattern" | "formal_parameters" | "object_pattern" | "rest_pattern":
                for child in pattern.named_children:
                    self._declare(child, scope)
            case "pair_pattern":
                self._declare(pattern.child_by_field_name("value"), scope)
            case "assignment_pattern" | "object_assignment_pattern":
                self._declare(pattern.child_by_field_name("left"), scope)
            case kind:
                raise ValueError(f"line {pattern.start_point.row + 1}: {kind} is not supported in a pattern")

    def _scope(self, parent: Scope) -> Scope:
        self._scopes.append(Scope(parent))
        return self._scopes[-1]


def _joints(root: Any) -> Iterator[tuple[int, int, str]]:
    """Yield the changes that make one declaration of those that stand next to each other."""
    for node in _nodes(root):
        before = node.prev_sibling
        if node.type != "lexical_declaration" or before is None or before.type != node.type:
            continue
        if before.children[0].type == node.children[0].type and before.children[-1].type == ";":
            yield before.end_byte - 1, node.named_children[0].start_byte, ","


def _breaks(root: Any, source: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the changes that leave out line breaks where the code stays the same."""
    before, at = "", 0
    for start, end in _tokens(root):
        token = source[start:end].decode()
        if b"\n" in source[at:start]:
            is_free = at == 0 or before in _BEFORE_BREAK or token in _BEHIND_BREAK
            # the bundler finds imports and exports at the beginning of a line
            yield at, start, "" if is_free and token not in ("import", "export") else "\n"
        before, at = token, end


def _tokens(node: Any) -> Iterator[tuple[int, int]]:
    """Yield first byte and end of each token; the text of a template between expressions is one."""
    if node.type == "template_string":
        at = node.start_byte
        for inner in node.named_children:
            if inner.type == "template_substitution":
                yield at, inner.start_byte
                yield inner.start_byte, inner.start_byte + 2
                for child in inner.named_children:
                    yield from _tokens(child)
                yield inner.end_byte - 1, inner.end_byte
                at = inner.end_byte
        yield at, node.end_byte
    elif node.child_count == 0 or node.type in _LEAVES:
        if node.end_byte > node.start_byte:
            yield node.start_byte, node.end_byte
    else:
        for child in node.children:
            yield from _tokens(child)


def _short_names(letters: str) -> Iterator[str]:
    names = chain(letters, map("".join, product(letters, ascii_lowercase)))
    return (name for name in names if name not in _KEYWORDS)


def _imported(node: Any) -> Iterator[str]:
    """Yield the names that an import statement declares."""
    for inner in _nodes(node):
        if inner.type == "import_specifier":
            yield _text(inner.child_by_field_name("alias") or inner.child_by_field_name("name"))
        elif inner.type == "identifier" and inner.parent.type == "import_clause":
            yield _text(inner)


def _nodes(node: Any) -> Iterator[Any]:
    for child in node.children:
        yield child
        yield from _nodes(child)


def _text(node: Any) -> str:
    return str(node.text, "utf-8")
