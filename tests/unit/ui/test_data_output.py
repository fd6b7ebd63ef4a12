"""A trial's output, page by page and as it grows."""

from __future__ import annotations

import os
import random

import pytest

from overtone.errors import StorageError
from overtone.reading.trial_names import UnknownTrialError
from overtone.reading.trial_output import NEWEST, OLDER, heading
from overtone.testing.scripted_journal import ScriptedJournal
from overtone.ui.data import output_pages
from overtone.ui.data.experiments import Experiments


@pytest.fixture
def one(told):
    trial = told.run({"x": 1.0}, {"loss": 1.0})
    told.write()
    (told.journal.parent / trial).mkdir()
    experiments = Experiments(told.journal.parent.parent)
    yield experiments.get("exp"), told.journal.parent / trial
    experiments.close()


def texts(page):
    return [line["text"] for line in page["lines"]]


def all_before(experiment, limit, place=None):
    found = []
    while True:
        page = experiment.log("0", before=place, limit=limit)
        found = page["lines"] + found
        place = page["before"]
        if place is None:
            return [(line["stream"], line["text"]) for line in found]


@pytest.mark.parametrize("page_bytes", [60, 1 << 20])
def test_pages_back_to_the_beginning(one, monkeypatch, page_bytes):
    monkeypatch.setattr(output_pages, "_PAGE_BYTES", page_bytes)
    experiment, folder = one
    rng = random.Random(1)
    wanted = []
    for name in (OLDER, NEWEST):
        text, stream = heading(folder.name, "stdout"), "stdout"
        for i in range(40):
            if rng.random() < 0.2:
                stream = rng.choice(["stdout", "stderr"])
                text += heading(folder.name, stream)
            line = f"{name} line {i}"[: rng.randrange(40)]
            wanted.append((stream, line))
            text += line.encode() + b"\n"
        (folder / name).write_bytes(text)
    for limit in (1, 7, 200):
        assert all_before(experiment, limit) == wanted


def test_new_lines_follow_across_parts(one):
    experiment, folder = one
    newest = folder / NEWEST
    newest.write_bytes(heading(folder.name, "stdout") + b"first\nunfini")
    page = experiment.log("0")
    assert texts(page) == ["first"]
    assert experiment.log("0", after=page["after"])["lines"] == []
    with newest.open("ab") as file:
        file.write(b"shed\n" + heading(folder.name, "stderr") + b"wrong\n")
    page = experiment.log("0", after=page["after"])
    assert [(line["stream"], line["text"]) for line in page["lines"]] == [
        ("stdout", "unfinished"), ("stderr", "wrong")
    ]  # fmt: skip
    newest.rename(folder / OLDER)  # it was full
    newest.write_bytes(heading(folder.name, "stderr") + b"again\n")
    page = experiment.log("0", after=page["after"])
    assert texts(page) == ["again"]
    assert texts(experiment.log("0", after=page["after"])) == []


def test_a_page_of_new_lines_has_at_most_so_many(one):
    experiment, folder = one
    (folder / NEWEST).write_bytes(heading(folder.name, "stdout") + b"begin\n")
    place = experiment.log("0")["after"]
    with (folder / NEWEST).open("ab") as file:
        file.writelines(b"%d\n" % i for i in range(25))
    found = []
    while page := texts(answer := experiment.log("0", after=place, limit=10)):
        assert len(page) <= 10
        found += page
        place = answer["after"]
    assert found == [str(i) for i in range(25)]


def test_long_lines_are_cut_and_escapes_are_passed_as_text(one):
    experiment, folder = one
    (folder / NEWEST).write_bytes(
        heading(folder.name, "stdout") + b"x" * (1 << 20) + b"\n\x1b[31mred <b>\xff\n"
    )
    long, red = experiment.log("0", limit=2)["lines"]
    assert len(long["text"]) == output_pages.LONGEST_SHOWN
    assert long["cut"] > 900_000
    assert red["text"] == "\x1b[31mred <b>\ufffd"


def test_files_of_log_to_file(tmp_path):
    told = ScriptedJournal(tmp_path / "exp", options={"log_to_file": ["out.txt", "err.txt"]})
    trial = told.run({"x": 1.0}, {"loss": 1.0})
    folder = told.write().parent / trial
    folder.mkdir()
    (folder / "out.txt").write_bytes(b"".join(b"out %d\n" % i for i in range(30)))
    (folder / "err.txt").write_bytes(b"err 0\n")
    experiment = Experiments(tmp_path).get("exp")
    page = experiment.log("0", limit=10)
    assert [line["stream"] for line in page["lines"]] == ["stdout"] * 5 + ["stderr"]
    with (folder / "err.txt").open("ab") as file:
        file.write(b"err 1\n")
    assert texts(experiment.log("0", after=page["after"])) == ["err 1"]
    assert [text for stream, text in all_before(experiment, 10) if stream == "stdout"] == [
        f"out {i}" for i in range(30)
    ]


def test_nothing_was_printed(one):
    experiment, folder = one
    assert experiment.log("0")["reason"]
    (folder / NEWEST).write_bytes(b"a file of the trial's own\n")
    assert experiment.log("0")["lines"] == []


def test_names_that_lead_elsewhere(one, tmp_path):
    experiment, folder = one
    for name in ("../exp", "/etc", "..", "%2e%2e"):
        with pytest.raises(UnknownTrialError):
            experiment.log(name)
    (tmp_path / "secret").write_bytes(heading(folder.name, "stdout") + b"secret\n")
    os.symlink(tmp_path / "secret", folder / NEWEST)
    assert experiment.log("0")["lines"] == []
    folder.rename(tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", folder)
    with pytest.raises(StorageError):
        experiment.log("0")
