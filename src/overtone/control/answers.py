"""Answers to requests: the number of a record, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from overtone.control.wire import PROTOCOL
from overtone.errors import OvertoneError
from overtone.version import __version__

Refusal = Literal["", "refused", "over", "wrong", "version", "foreign"]
"""Why a request was not taken: the controller's objection, the end of the run, a mistake in the request,
another version, another user."""


class ControlError(OvertoneError):
    """A request to an experiment was refused, or could not be brought to its driver.

    Attributes:
        kind: See `Refusal`; "" if the driver was not reached.
    """

    kind: Refusal

    def __init__(self, message: object = "", kind: Refusal = "") -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request that is in the journal.

    Attributes:
        n: The number of its record.
        trial_id: The trial that it made or concerned; "" if there is none, or it has no id yet.
        waits: Whether no driver ran, so that it takes effect when the experiment is resumed.
    """

    n: int
    trial_id: str = ""
    waits: bool = False

    def as_data(self) -> dict[str, Any]:
        """Return the answer as a document for the wire."""
        return {
            "protocol": PROTOCOL,
            "version": __version__,
            "n": self.n,
            "trial_id": self.trial_id,
            "waits": self.waits,
        }


def refusal(error: str, kind: Refusal) -> dict[str, Any]:
    """Return a refusal as a document for the wire."""
    return {"protocol": PROTOCOL, "version": __version__, "error": error, "kind": kind}


def text_in(document: dict[str, Any]) -> str:
    """Return the answer to a question in a document from the wire.

    Raises:
        ControlError: It is a refusal, or makes no sense.
    """
    _check(document)
    text = document.get("text")
    if type(text) is not str:
        raise ControlError(f"its driver answers with {document!r:.80}, which is not an answer", "wrong")
    return text


def answer_in(document: dict[str, Any]) -> Answer:
    """Return the answer in a document from the wire.

    Raises:
        ControlError: It is a refusal, or makes no sense.
    """
    _check(document)
    n, trial_id = document.get("n"), document.get("trial_id", "")
    if type(n) is not int or type(trial_id) is not str:
        raise ControlError(f"its driver answers with {document!r:.80}, which is not an answer", "wrong")
    return Answer(n, trial_id, bool(document.get("waits")))


def _check(document: dict[str, Any]) -> None:
    """Refuse the answer of another version, and a refusal.

    Raises:
        ControlError: It is one of them.
    """
    if document.get("protocol") != PROTOCOL:
        raise ControlError(
            f"its driver runs Overtone {document.get('version')}, and this is {__version__}: use that one",
            "version",
        )
    if "error" in document:
        raise ControlError(str(document["error"]), document.get("kind", "refused"))
