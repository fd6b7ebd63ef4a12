"""The page's modules as one script, and its style sheets as one: no build step, and one request for each.

Each module becomes a function that runs once, in order of dependence. Its exports are constants of the
script, so that a module needs no line for what it imports; a name of its own for an import is a parameter.
Lines keep their numbers, and lose comments and indentation (docs/decisions/0029). Own modules keep to some
forms of `import` and `export`, each on lines of its own: named imports from a relative path that ends with
".js" or from a vendored name, a default import from a vendored name, `export` before a const, a function or
a class, and `export { a, b as c };`, with or without `from`. Any other form is an error with its file and
line. No export has the name of a global of browsers: in other modules that name would mean the export.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from overtone.ui.compact import compact, compact_style

WEB = Path(__file__).parent / "web"

PACKED = "packed"
"""The folder below `WEB` that only a wheel has, in which modules have short names: the page by Brotli."""

# style sheets that others build on come first
_FIRST_STYLES = ("base.css", "layout.css")

_NAMES = r"\{([^{}]*)\}"
_IMPORT = re.compile(rf'^import\s*(?:{_NAMES}|([\w$]+))\s*from\s*"([^"\n]+)";?', re.MULTILINE)
_EXPORT_NAMES = re.compile(rf'^export\s*{_NAMES}(?:\s*from\s*"([^"\n]+)")?;?', re.MULTILINE)
_EXPORT_DECLARED = re.compile(
    r"^export (?=(?:async )?(?:(?:const|function|class) |function\*)([\w$]+))", re.MULTILINE
)
_UNSUPPORTED = re.compile(r"^(?:import|export)\b.*|\bimport\s*(?:\(|\.meta).*", re.MULTILINE)
# vendored modules are minified: their statements share a line
_VENDORED = re.compile(
    r"(?:(?<=[;}])|^)(?=(?:import|export)\{)|(?<=;)(?=export default function)", re.MULTILINE
)


class BundleError(Exception):
    """A module that the bundler cannot read, with its file and line."""


@dataclass
class _Module:
    exports: dict[str, str] = field(default_factory=dict)  # its name for importers: an expression inside
    constants: dict[str, str] = field(default_factory=dict)  # its name for importers: an expression outside


def script(entry: str, after: str = "") -> str:
    """Return the module `entry` and all that it imports as one classic script.

    Args:
        entry: A path below `web/js/`, such as "main.js".
        after: The entry of a script that runs before: its modules are shared and left out. If the page has
            another version of that script, it is loaded again.

    Raises:
        BundleError: If a form of import or export is not supported, a name is imported that is not
            exported, or modules import each other in a circle.
    """
    bundle = _Bundle()
    if after:
        bundle.add(f"js/{after}", ())
    shared = bundle.parts.copy()
    bundle.add(f"js/{entry}", ())
    if not after:
        return "\n".join(['"use strict";', f'const version = "{_version(bundle.parts)}";', *bundle.parts, ""])
    own = bundle.parts[len(shared) :]
    check = f'"use strict"; if (version !== "{_version(shared)}") location.reload(); else {{'
    return "\n".join([check, *own, "}", ""])


def factory(entry: str) -> str:
    """Return the same as an expression: a function that runs all modules and returns the exports of `entry`.

    Each call has modules, and so signals, of its own.
    """
    bundle = _Bundle()
    constants = bundle.add(f"js/{entry}", ()).constants
    exports = ", ".join(f"{name}: {constant}" for name, constant in constants.items())
    return "\n".join(['(() => {"use strict";', *bundle.parts, f"return {{ {exports} }};\n}})"])


def style() -> str:
    """Return all style sheets as one: the vendored, the base, the layout, and the others by name."""
    own = {path.name: path for path in (WEB / "css").glob("*.css")}
    order = sorted(own, key=lambda name: (name not in _FIRST_STYLES, name))
    paths = [*sorted((WEB / "vendor").glob("*.css")), *(own[name] for name in order)]
    texts = {path: path.read_text("utf-8") for path in paths}
    return "\n".join(
        f"/* {path.relative_to(WEB)} */\n{text if 'vendor' in path.parts else compact_style(text)}"
        for path, text in texts.items()
    )


@cache
def _compact(text: str) -> str:
    """Return `compact(text)`: several scripts share modules."""
    return compact(text)


class _Bundle:
    """The modules so far, and their functions in order of dependence."""

    def __init__(self) -> None:
        self.modules: dict[str, _Module] = {}
        self.parts: list[str] = []
        self._names: set[str] = set()
        entries = json.loads((WEB / "vendor" / "vendor.json").read_text("utf-8"))
        self._vendored = {entry["import"]: entry for entry in entries if entry["import"]}

    def add(self, path: str, importers: tuple[str, ...]) -> _Module:
        if path in importers:
            circle = (*importers[importers.index(path) :], path)
            raise BundleError(f"modules import each other in a circle: {' -> '.join(circle)}")
        if path not in self.modules:
            self._add(path, (WEB / path).read_text("utf-8"), (*importers, path))
        return self.modules[path]

    def _add(self, path: str, source: str, importers: tuple[str, ...]) -> None:
        is_vendored = path.startswith("vendor/")
        try:
            text = _VENDORED.sub("\n", source) if is_vendored else _compact(source)
        except ValueError as error:
            raise BundleError(f"{path}: {error}") from error
        module = _Module()
        imports: dict[str, str] = {}  # a name in the module: a constant of the script

        def fail(match: re.Match[str], problem: str) -> BundleError:
            line = match.string.count("\n", 0, match.start()) + 1
            return BundleError(f"{path}:{line}: {problem}: {match[0].strip()}")

        def target(match: re.Match[str], name: str) -> _Module:
            if name in self._vendored:
                return self.add(f"vendor/{self._vendored[name]['file']}", importers)
            if not name.startswith(".") or not name.endswith(".js"):
                raise fail(match, 'import from a relative path with ".js", or a vendored name')
            other = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            if not (WEB / other).is_file():
                raise fail(match, "no such file")
            return self.add(other, importers)

        def chosen(match: re.Match[str], names: str, source: _Module) -> dict[str, str]:
            """Return the constants of `source` by the names that they have here."""
            pairs = _pairs(names)
            for name, _ in pairs:
                if name not in source.constants:
                    raise fail(match, f"no export is named {name}")
            return {alias: source.constants[name] for name, alias in pairs}

        def imported(match: re.Match[str]) -> str:
            names, default, name = match.groups()
            imports.update(chosen(match, f"default as {default}" if default else names, target(match, name)))
            return "\n" * match[0].count("\n")

        def exported(match: re.Match[str]) -> str:
            names, name = match.groups()
            if name:
                module.constants.update(chosen(match, names, target(match, name)))
            for inside, alias in () if name else _pairs(names):
                if inside in imports:
                    module.constants[alias] = imports[inside]
                else:
                    module.exports[alias] = inside
            return "\n" * match[0].count("\n")

        def declared(match: re.Match[str]) -> str:
            module.exports[match[1]] = match[1]
            return ""

        body = _IMPORT.sub(imported, text)
        body = _EXPORT_NAMES.sub(exported, body)
        body = _EXPORT_DECLARED.sub(declared, body)
        if is_vendored and "\nexport default function" in body:
            body = body.replace("\nexport default function", "\nconst $default=function", 1)
            module.exports["default"] = "$default"
        for match in _UNSUPPORTED.finditer(body):
            raise fail(match, "this form is not supported")
        self.modules[path] = module
        own = {name: self._constant(name) for name in module.exports}
        module.constants.update(own)
        others = {name: constant for name, constant in imports.items() if name != constant}
        self.parts.append(
            f"const [{','.join(own.values())}]=(({','.join(others)}) => {{{self._title(path)}\n"
            f"{body.rstrip()}\nreturn[{','.join(module.exports.values())}];\n}})({','.join(others.values())});"
        )

    def _constant(self, name: str) -> str:
        """Return the name of an export among all of the script."""
        constant = f"${name}" if name == "default" else name
        while constant in self._names:
            constant += "$"
        self._names.add(constant)
        return constant

    def _title(self, path: str) -> str:
        """Return the comment that names a module; in a wheel, whose modules have no lines, licences alone."""
        for entry in self._vendored.values():
            if path == f"vendor/{entry['file']}":
                return " // {package} {version}, {licence}, (c) {copyright}".format(**entry)
        return "" if (WEB / PACKED).is_dir() else f" // {path}"


def _version(parts: list[str]) -> str:
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]


def _pairs(names: str) -> list[tuple[str, str]]:
    """Return the two names of each "a as b" in "a as b, c", or the only one twice."""
    pairs = (name.strip().partition(" as ") for name in names.split(",") if name.strip())
    return [(name.strip(), (alias or name).strip()) for name, _, alias in pairs]
