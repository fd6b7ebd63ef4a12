"""The part of the metadata that a build derives: the README with links that work on a package index."""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

# code, which stays as it is; or the text of a picture, if any, and a relative target; or a picture in HTML
_LINK = re.compile(
    r"""```.*?```|`[^`\n]*`|(!\[[^\]]*)?\]\((?!\w+:|#)([^)\s]+)|(\b(?:src|srcset)=")(?!\w+:)([^"\s]+)""",
    re.DOTALL,
)


class ReadmeHook(MetadataHookInterface):
    """Adds README.md, its relative links made absolute below the `Source` of `[project.urls]`."""

    def update(self, metadata: dict) -> None:
        text = Path(self.root, "README.md").read_text("utf-8")
        text = with_absolute_links(text, metadata["urls"]["Source"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_absolute_links(markdown: str, repository: str) -> str:
    """Return `markdown` with each relative link leading to the file in the repository at this URL."""

    def absolute(match: re.Match[str]) -> str:
        picture, target, attribute, source = match.groups()
        if source is not None:
            return f"{attribute}{repository}/raw/HEAD/{source}"
        if target is None:
            return match[0]
        return f"{picture or ''}]({repository}/{'raw' if picture else 'blob'}/HEAD/{target}"

    return _LINK.sub(absolute, markdown)
