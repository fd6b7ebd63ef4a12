"""Pages for a forge become pages of the site.

The Markdown files link to each other and to files of the repository by relative paths, as a forge needs it.
Here such links lead to pages of the site where those exist, and to the repository otherwise. A page of
`PARTS` lists other pages in its tables: they are its toctree. A `.from` file stands for a file with another
name: it has that file's path.
"""

from __future__ import annotations

import re
from importlib.metadata import metadata
from os.path import relpath
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
PARTS = ("index", "start", "guides", "concepts", "reference", "frameworks/README")
"""The pages that list others; the first page lists the four parts."""
REPOSITORY = dict(line.split(", ", 1) for line in metadata("overtone").get_all("Project-URL") or ())["Source"]

# code, which stays as it is; or the text before a relative target, and the target
_LINK = re.compile(r"```.*?```|`[^`\n]*`|(!?\[[^\]]*\]\()(?!\w+:|#)([^)\s]+)\)", re.DOTALL)
# the home folder in which a build ran the tutorials: see conf.py
_HOME = re.compile(r"[^\s'\"]*/overtone-docs-\w+/ada\b")
_ROW_LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)[^)]*\)")


def page_at(target: Path) -> str | None:
    """Return the name of the page that is made of a file, without a suffix; None if there is none."""
    if target.parent == DOCS / "tutorials" and target.suffix == ".py":
        return f"learn/{target.stem}"
    if target == DOCS / "decisions":
        return "decisions/index"
    for stub in DOCS.rglob("*.from"):
        if (stub.parent / stub.read_text("utf-8").strip()).resolve() == target:
            return stub.relative_to(DOCS).with_suffix("").as_posix()
    if target.suffix == ".md" and target.is_file() and DOCS in target.parents:
        return target.relative_to(DOCS).with_suffix("").as_posix()
    return None


def relinked(text: str, folder: Path, page: str) -> str:
    """Return Markdown whose relative links are right on a page of the site.

    Args:
        text: The Markdown of a file.
        folder: The folder of the file, from which its links are relative.
        page: The page that the file becomes.
    """

    def rewrite(match: re.Match[str]) -> str:
        before, target = match.groups()
        if target is None:
            return match[0]
        path, hash_sign, anchor = target.partition("#")
        file = (folder / path).resolve()
        if before.startswith("!"):
            return f"{before}{relpath(file, (DOCS / page).parent)})"
        if (name := page_at(file)) is not None:
            return f"{before}{relpath(name, Path(page).parent)}{_suffix(name)}{hash_sign}{anchor})"
        kind = "tree" if file.is_dir() else "blob"
        return f"{before}{REPOSITORY}/{kind}/HEAD/{relpath(file, ROOT)}{hash_sign}{anchor})"

    return _LINK.sub(rewrite, text)


def listed(text: str, folder: Path, page: str) -> list[str]:
    """Return the pages that the tables of a Markdown file link to, in order."""
    rows = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    names = [page_at((folder / target).resolve()) for target in _ROW_LINK.findall(rows)]
    return list(dict.fromkeys(name for name in names if name not in (None, page)))  # type: ignore[misc]


def read(app: Sphinx, page: str, content: list[str]) -> None:
    """Rewrite a Markdown source as it is read."""
    path = Path(app.env.doc2path(page))
    if page.startswith("learn/"):
        content[0] = _HOME.sub("/home/ada", content[0])
    if path.suffix not in (".md", ".from"):
        return
    if path.suffix == ".from":
        path = (path.parent / content[0].strip()).resolve()
        app.env.note_dependency(str(path))
        content[0] = path.read_text("utf-8")
    text = relinked(content[0], path.parent, page)
    if page in PARTS:
        names = PARTS[1:5] if page == "index" else listed(content[0], path.parent, page)
        if page == "reference":
            names = ["api/index", *names]
        entries = "\n".join(f"/{name}" for name in names)
        text += f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"
    content[0] = text


def _suffix(page: str) -> str:
    """Return the suffix of a page's source, which Markdown links need."""
    return next((one for one in (".md", ".from", ".rst") if (DOCS / f"{page}{one}").is_file()), ".rst")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
