"""The output of a notebook's cell."""

from __future__ import annotations

import sys
from typing import Any

from overtone import standard_streams

_STYLE = (
    "margin:0;padding:.4em .9em;border-left:3px solid #0072b2;line-height:1.35;font-size:12px;"
    "overflow-x:auto;white-space:pre;font-family:ui-monospace,monospace"
)


def is_notebook() -> bool:
    """Return whether this process is a notebook's kernel; IPython is not imported to find out."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell: Any = getattr(ipython, "get_ipython", lambda: None)()
    return any(kind.__name__ == "ZMQInteractiveShell" for kind in type(shell).__mro__)  # Colab has its own


class Cell:
    """One place in a cell's output whose text can be replaced; standard output elsewhere."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        """Show `text`, as it is, in place of what was there."""
        if not is_notebook():
            standard_streams.show(text + "\n\n")
            return
        from html import escape

        from IPython.display import HTML, display

        first, _, rest = text.partition("\n")  # the state of the run, then its table
        body = f"<b>{escape(first)}</b>\n{escape(rest)}"
        page: Any = HTML(f'<pre style="{_STYLE}">{body}</pre>')  # type: ignore[no-untyped-call]
        if self._handle is None:
            self._handle = display(page, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(page)
