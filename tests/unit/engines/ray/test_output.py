"""Lines of the engine's own, said from another thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from overtone.engines.ray import output
from overtone.engines.ray.output import Output

NOTHING: Any = None


def test_a_line_from_another_thread_is_said_by_the_engines_own(capsys: pytest.CaptureFixture[str]) -> None:
    said: list[tuple[str, ...]] = []
    Output(NOTHING, lambda *line: said.append(line)).say_from_thread("away", lambda say: say())
    assert said == [("", "stderr", "overtone: away\n")]
    assert capsys.readouterr().err == ""


def test_a_line_is_said_once_even_if_the_engines_thread_waits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "SAID_WITHIN_S", 0.0)
    said: list[tuple[str, ...]] = []
    later: list[Callable[[], None]] = []
    Output(NOTHING, lambda *line: said.append(line)).say_from_thread("away", later.append)
    assert capsys.readouterr().err == "overtone: away\n"
    later[0]()
    assert said == []
