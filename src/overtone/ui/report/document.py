"""The report as one HTML document: a still page first, which the script replaces by the live one.

Viewers without script, such as the preview of a mail program, show the still page: it is what
`overtone report --static` writes. The policy of the document allows its own scripts and styles by their
hashes and nothing else, so that it makes no request to anywhere. The data stand in `script` elements of a
type that browsers do not run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence

from overtone.analysis.page.html import still_style, text
from overtone.ui import bundle

_DATA = "application/octet-stream"


def document(title: str, still: Sequence[str], parts: Iterable[tuple[str, str]]) -> str:
    """Return the document.

    Args:
        title: Its title.
        still: HTML of the still page's sections.
        parts: (name, base64 text) of each answer: see `parts_of`.
    """
    script, live, plain = bundle.script("report.js"), bundle.style(), still_style()
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(live)} {_hash(plain)}; "
        "base-uri 'none'; form-action 'none'"
    )
    data = "\n".join(
        f'<script type="{_DATA}" data-part="{text(name)}">{packed}</script>' for name, packed in parts
    )
    body = "\n".join(part for part in still if part)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f"<title>{text(title)}</title>\n"
        f'<style id="still-style">{plain}</style>\n'
        f'<style id="live-style" media="not all">{live}</style></head>\n'
        f'<body><div id="app"></div>\n{data}\n<script>{script}</script>\n'
        f'<div id="still">{body}</div>\n</body></html>\n'
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
