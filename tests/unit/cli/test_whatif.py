from __future__ import annotations

import pytest

from overtone.cli.commands.whatif import scheduler_of
from overtone.errors import OvertoneError
from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.median import MedianStoppingRule


@pytest.fixture
def told(tell):
    told = tell()
    for x in (0.5, 0.6, 0.1, 0.9):
        told.run({"x": x}, *(x + 1 / t for t in range(1, 10)))
    told.close()
    return told


def test_it_tells_what_would_have_been_stopped_and_why(overtone, told):
    done = overtone("whatif", "exp", "--scheduler", "ASHAScheduler(max_t=9, reduction_factor=3)")
    assert done.code == 0
    assert "4 recorded trials under ASHAScheduler(max_t=9, reduction_factor=3):" in done.out
    assert "found    loss=0.211111 (it was 0.211111)" in done.out
    assert "stopped at 1: loss=1.9 is 4th of 4; the cutoff was" in done.out


def test_as_json(overtone, told):
    data = overtone("whatif", "exp", "--scheduler", "asha", "--json").data
    assert (data["trials"], data["is_exact"], data["metric"]) == (4, True, "loss")
    assert data["cut"] == data["extended"]
    assert data["stopped"][-1]["why"]["rule"] == "asha"


def test_errors_are_lines(overtone, told):
    assert "did you mean 'ASHAScheduler'" in overtone("whatif", "exp", "--scheduler", "ASHASchedule()").err
    assert overtone("whatif", "none", "--scheduler", "asha").code == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ASHAScheduler(max_t=81)", ASHAScheduler), ("ASHA(time_attr='t', max_t=27)", ASHAScheduler),
        ("ASHAScheduler", ASHAScheduler), ("median", MedianStoppingRule), ("asha(max_t=9)", ASHAScheduler),
    ],
)  # fmt: skip
def test_schedulers_are_named_with_plain_arguments(text, kind):
    assert isinstance(scheduler_of(text), kind)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ASHAScheduler(max_t=print(1))", "plain numbers"), ("__import__('os').system('x')", "not a name with arg"),
        ("ASHAScheduler(**{})", "not a name with arg"), ("print('x')", "no scheduler 'print'|there is no scheduler"),
        ("Continue()", "no scheduler 'Continue'"), ("ASHAScheduler(max_t=0)", "max_t=0"),
        ("ASHAScheduler(maxt=1)", "no 'maxt'; did you mean 'max_t'"), ("ASHAScheduler(", "not an expression"),
        ("CONTINUE", "no scheduler 'CONTINUE'$"), ("TrialScheduler()", "no scheduler 'TrialScheduler'"),
    ],
)  # fmt: skip
def test_nothing_else_is_evaluated(text, message):
    with pytest.raises(OvertoneError, match=message):
        scheduler_of(text)
