"""What Slurm's commands refuse."""

from __future__ import annotations

import pytest

from overtone.cluster.remote import Finished
from overtone.cluster.slurm.commands import JobInfo, Slurm, SlurmError


class Login:
    """A login node with one answer."""

    name = "login"

    def __init__(self, answer: Finished) -> None:
        self.answer, self.commands = answer, []

    def run(self, command, *, input=None, timeout_s=60.0):
        self.commands.append(command)
        return self.answer


JOB = JobInfo("7", "RUNNING", "None", "node1", 1, None, None)


def test_an_error_of_scancel_is_shown():
    said = b"scancel: error: Kill job error on job id 7: Access/permission denied\n"
    with pytest.raises(SlurmError, match=r"(?s)login: scancel failed:.*permission denied"):
        Slurm(Login(Finished(1, b"", said))).cancel([JOB])


def test_jobs_are_cancelled_and_none_needs_no_command():
    login = Login(Finished(0, b"", b""))
    Slurm(login).cancel([])
    assert login.commands == []
    Slurm(login).cancel([JOB])
    assert login.commands == ["scancel --quiet 7 "]
