"""Opens the page in the user's browser."""

from __future__ import annotations

import html
import os
import sys
from contextlib import suppress

from overtone.ui.server.registration import runtime_folder

_PAGE = '<!doctype html><meta http-equiv="refresh" content="0;url={0}"><a href="{0}">Overtone</a>\n'


def open_in_browser(address: str) -> bool:
    """Open an address in a browser, and return whether there is one.

    Other users see the arguments of processes, so the browser gets a file of this user's with the address,
    not the address, which has the token.
    """
    if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        return False  # A browser in the terminal would take it over.
    import webbrowser

    try:
        folder = runtime_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / "open.html"
        with suppress(FileNotFoundError):
            file.unlink()
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as page:
            page.write(_PAGE.format(html.escape(address)))
        return webbrowser.open(file.as_uri())
    except (OSError, webbrowser.Error):
        return False
