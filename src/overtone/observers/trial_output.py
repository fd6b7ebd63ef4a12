"""What trials print, line by line with the trial's name."""

from __future__ import annotations

from overtone.observers.plain_text import clean, printable_output

_MAX_PARTIAL = 65_536  # characters of a line that never ends


class TrialOutput:
    """Puts the pieces of text that arrive together to whole lines, each with its trial's name."""

    def __init__(self) -> None:
        self._partial: dict[tuple[str, str], str] = {}

    def feed(self, trial_id: str, stream: str, text: str, colours: bool = False) -> str:
        """The lines that are complete now: "(358bb_00006) hello\\n"; a rest waits for its end."""
        key = (trial_id, stream)
        text = self._partial.pop(key, "") + text
        whole, newline, rest = text.rpartition("\n")
        if len(rest) > _MAX_PARTIAL:
            whole, newline, rest = text, "\n", ""
        if rest:
            self._partial[key] = rest
        return _named(trial_id, whole, colours) if newline else ""

    def rest(self, colours: bool = False) -> str:
        """The lines that were never ended."""
        partial, self._partial = self._partial, {}
        return "".join(_named(trial_id, text, colours) for (trial_id, _), text in partial.items())


def _named(trial_id: str, text: str, colours: bool) -> str:
    name = clean(trial_id)
    prefix, end = (f"\x1b[36m({name})\x1b[0m ", "\x1b[0m\n") if colours else (f"({name}) ", "\n")
    lines = printable_output(text, colours).split("\n")
    return "".join(prefix + line + (end if "\x1b" in line else "\n") for line in lines)
