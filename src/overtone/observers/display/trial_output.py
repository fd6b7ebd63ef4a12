"""Output of trials, line by line; each line begins with the trial's name."""

from __future__ import annotations

import re

from overtone.observers.display.plain_text import printable_output

_MAX_PARTIAL = 65_536  # characters of a line that never ends
_NAME = re.compile(r"\([^()]* pid=\d+\)")


class TrialOutput:
    """Puts the pieces of text that arrive together to whole lines, fit to be shown."""

    def __init__(self) -> None:
        self._partial: dict[tuple[str, str], str] = {}

    def feed(self, trial_id: str, stream: str, text: str, colours: bool = False) -> str:
        """Return the lines that are complete now; a rest waits for its end. The engine has named them."""
        key = (trial_id, stream)
        text = self._partial.pop(key, "") + text
        whole, newline, rest = text.rpartition("\n")
        if len(rest) > _MAX_PARTIAL:
            whole, newline, rest = text, "\n", ""
        if rest:
            self._partial[key] = rest
        return _shown(whole, colours) if newline else ""

    def rest(self, colours: bool = False) -> str:
        """Return the lines that were never ended."""
        partial, self._partial = self._partial, {}
        return "".join(_shown(text, colours) for text in partial.values())


def _shown(text: str, colours: bool) -> str:
    lines = printable_output(text, colours).split("\n")
    if not colours:
        return "".join(f"{line}\n" for line in lines)
    return "".join(_coloured(line) for line in lines)


def _coloured(line: str) -> str:
    """Return the line with its "(name pid=1)" in colour, and no colour that runs on after it."""
    name = _NAME.match(line)
    if name is not None:
        line = f"\x1b[36m{name[0]}\x1b[0m{line[name.end() :]}"
    return line + ("\x1b[0m\n" if "\x1b" in line else "\n")
