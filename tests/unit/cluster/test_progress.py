"""Lines about phases, also on a terminal that was closed meanwhile."""

from __future__ import annotations

import io
import os

import pytest

from overtone.cluster import interrupts
from overtone.cluster.progress import LeftPhase, Progress


@pytest.mark.parametrize(
    ("error", "outcome"), [(None, "done"), (KeyboardInterrupt, "interrupted"), (LeftPhase, "detached"), (ValueError, "failed")]
)
def test_a_phase_says_how_it_ended(error, outcome):
    stream = io.StringIO()
    with pytest.raises(error) if error else pytest.MonkeyPatch.context(), Progress(stream=stream).phase("run"):
        if error:
            raise error
    assert stream.getvalue().splitlines()[-1].startswith(f"overtone: run: {outcome} in 0.")


def closed_terminal(mode):
    """Return a file whose reads and writes fail with EIO, as on a terminal that was closed."""
    master, slave = os.openpty()
    os.close(master)
    return open(slave, mode)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # what the file still holds at its end
def test_work_goes_on_when_the_terminal_is_closed():
    done = []
    progress = Progress(stream=closed_terminal("w"))
    with progress.phase("take down"):
        progress.warn("a line")
        done.append(1)
    progress.end("over")
    assert done == [1]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_question_on_a_closed_terminal_means_yes(monkeypatch):
    monkeypatch.setattr("sys.stderr", closed_terminal("w"))
    monkeypatch.setattr("sys.stdin", closed_terminal("r"))
    assert interrupts.ask_yes_or_no("take it down?") is True
