"""The page's modules and styles as one ES module of the form that anywidget takes."""

from __future__ import annotations

import json

from overtone.ui import bundle
from overtone.ui.widget.style import style


def module() -> str:
    """Return the module's text."""
    return (
        f"const make = {bundle.factory('widget.js')};\nconst style = {json.dumps(style())};\n"
        "export default () => {\nconst page = make();\n"
        "return { render: (given) => page.render({ ...given, style }) };\n};\n"
    )
