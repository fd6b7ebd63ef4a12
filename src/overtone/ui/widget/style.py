"""The page's style sheets for a shadow root: rules on the page become rules on the widget."""

from __future__ import annotations

import re

from overtone.ui import bundle

_PAGE = re.compile(r"(?m)(?<![\w-])(?::root|html|body)(?=[\s,{\[:.>])(?=[^{}]*\{)")


def style() -> str:
    """Return the style sheet. Inherited properties of the notebook do not reach the widget."""
    return f":host {{ all: initial; display: block; }}\n{_PAGE.sub('.widget', bundle.style())}"
