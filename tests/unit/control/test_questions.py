"""Questions on the socket of a run: answered one by one, and never more than wait."""

from __future__ import annotations

import threading
from queue import Queue

import pytest

from overtone.control import questions
from overtone.control.answers import ControlError, text_in
from overtone.control.questions import Questions
from overtone.errors import OvertoneError


def put(asked, document):
    answers: Queue = Queue()
    asked.put(document, answers.put)
    return answers


def refuses(trial_id):
    raise OvertoneError(f"{trial_id} does not run")


def test_an_answer():
    asked = Questions({"stack": lambda trial_id: f"stacks of {trial_id}"})
    assert "stack" in asked
    assert "stop" not in asked
    answer = put(asked, {"what": "stack", "trial_id": "t"}).get(timeout=60)
    assert text_in(answer) == "stacks of t"


@pytest.mark.parametrize("trial_id", [None, "", 3, ["t"]])
def test_a_question_without_a_trial(trial_id):
    answers = put(Questions({"stack": refuses}), {"what": "stack", "trial_id": trial_id})
    with pytest.raises(ControlError, match="must name a trial"):
        text_in(answers.get_nowait())


def test_a_refusal_is_the_answer_and_the_next_is_answered():
    asked = Questions({"stack": refuses})
    for _ in range(2):
        with pytest.raises(ControlError, match="t does not run"):
            text_in(put(asked, {"what": "stack", "trial_id": "t"}).get(timeout=60))


def test_too_many_are_refused_and_the_others_answered(monkeypatch):
    monkeypatch.setattr(questions, "MOST_WAITING", 2)
    go_on, has_begun = threading.Event(), threading.Event()

    def slow(trial_id):
        has_begun.set()
        go_on.wait(60)
        return trial_id

    asked = Questions({"stack": slow})
    first = put(asked, {"what": "stack", "trial_id": "0"})
    assert has_begun.wait(60)
    others = [put(asked, {"what": "stack", "trial_id": str(i)}) for i in range(1, 4)]
    with pytest.raises(ControlError, match="too many"):
        text_in(others[-1].get_nowait())
    go_on.set()
    assert [text_in(one.get(timeout=60)) for one in [first, *others[:2]]] == ["0", "1", "2"]


def test_an_answer_that_makes_no_sense():
    with pytest.raises(ControlError, match="is not an answer|makes no sense"):
        text_in({"protocol": 1, "text": 3})
