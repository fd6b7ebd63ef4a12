"""The ways of a result and of a resume through the package do not get longer."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "packaging"))
from entered import entered

MOST_OF_A_RESULT, MOST_OF_A_RESUME = 42, 45
"""Numbers of files: they only shrink. Requests took two more for a resume, the seals of lines one for each."""


def test_a_result_and_a_resume_enter_few_files() -> None:
    result, resume = entered()
    assert "worker/session/session.py" in result["trial"]
    assert {"core/controller.py", "journal/writer.py", "run/loop.py"} <= result["driver"]
    assert {"run/resume/resume.py", "run/resume/replay.py"} <= resume
    assert len(set().union(*result.values())) <= MOST_OF_A_RESULT
    assert len(resume) <= MOST_OF_A_RESUME
