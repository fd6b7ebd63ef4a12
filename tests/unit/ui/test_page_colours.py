"""The page's style sheet has the colours of figures."""

import re

from overtone.analysis.drawing.palette import ROLES
from overtone.ui.bundle import WEB


def test_tokens_of_both_themes_are_those_of_the_palette():
    text = (WEB / "css" / "base.css").read_text("utf-8")
    light, dark = re.findall(r"^:root[^{]*\{([^}]*)\}", text, re.MULTILINE)[:2]
    for theme, block in (("light", light), ("dark", dark)):
        tokens = dict(re.findall(r"--c-(\w+): (#\w+);", block))
        assert len(tokens) >= 10
        assert tokens == {role: getattr(ROLES[role], theme) for role in tokens}
