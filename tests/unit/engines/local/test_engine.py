from __future__ import annotations

import io
import sys

import pytest

from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.engines.local import Local
from overtone.engines.prints import write_output


def test_describe_says_what_there_is() -> None:
    engine = Local(cpus=2, gpus=0, memory=2**34)
    assert engine.describe() == "local engine: 2 CPUs, 0 GPUs, 16.0 GiB memory"
    engine.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start_method": "fork"}, r"""start_method='fork': choose "warm" or "spawn\""""),
        ({"max_processes": 0}, "max_processes=0"),
    ],
)
def test_arguments_that_are_wrong(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Local(**arguments)  # type: ignore[arg-type]


def test_an_engine_that_was_never_opened_closes() -> None:
    engine = Local(cpus=1)
    with pytest.raises(RuntimeError, match=r"open\(\) comes before submit\(\)"):
        engine.submit([Start("a", 0, 0, {}, Resources.of({"cpu": 1}), Placement(("local",), ((),)))])
    engine.close()
    engine.close()
    assert engine.poll(None) == []


def test_prints_go_to_the_drivers_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    write_output("a", "stdout", "one\n")
    write_output("a", "stderr", "two\n")
    assert (out.getvalue(), err.getvalue()) == ("one\n", "two\n")
    monkeypatch.setattr(sys, "stdout", None)  # as under pythonw
    write_output("a", "stdout", "one\n")
