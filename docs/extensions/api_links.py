"""Public names in the text of a page, such as `tune.run`, become links to the reference."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

_NAME = re.compile(r"(?:[a-z]\w*\.)+\w+|[A-Z]\w*[a-z]\w*(?:\.\w+)?")
_PLACES = (
    "",
    "overtone.",
    "overtone.tune.",
    "overtone.tune.schedulers.",
    "overtone.tune.search.",
    "overtone.tune.stopper.",
)


class LinkNames(SphinxPostTransform):
    """Wraps literals that name an object of the reference."""

    default_priority = 200

    def run(self, **_: Any) -> None:
        """Link the names of this page; pages of the reference have links of their own."""
        page = self.env.docname
        if page.startswith("api/"):
            return
        objects = self.env.domains.python_domain.objects
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext().partition("(")[0]
            if not _NAME.fullmatch(name) or _is_within(literal, nodes.reference, nodes.title):
                continue
            found = next(
                (objects[f"{place}{name}"] for place in _PLACES if f"{place}{name}" in objects), None
            )
            if found and found.docname.startswith("api/"):
                link = make_refnode(self.app.builder, page, found.docname, found.node_id, literal.deepcopy())
                literal.replace_self(link)


def _is_within(node: nodes.Element, *kinds: type[nodes.Element]) -> bool:
    """Return whether a node has an ancestor of one of these kinds."""
    while (parent := node.parent) is not None:
        if isinstance(parent, kinds):
            return True
        node = parent
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_post_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
