"""How many configurations are asked for, and when there are none left."""

from overtone.core.suggestion_quota import Supply


def test_as_many_as_there_is_room_for():
    supply = Supply(None, 0)
    assert supply.ask(pending=0, room=3) == [0, 1, 2]
    assert supply.ask(pending=0, room=3) == []
    assert supply.ask(pending=0, room=5) == [3, 4]
    assert supply.outstanding == 5
    assert supply.ask(pending=0, room=0) == []
    supply.on_answer(0, True)
    assert supply.outstanding == 4
    assert not supply.is_over


def test_lookahead_counts_those_that_wait():
    supply = Supply(None, 4)
    assert supply.ask(pending=1, room=0) == [0, 1, 2]
    supply.on_answer(0, True)
    assert supply.ask(pending=2, room=0) == []
    assert supply.ask(pending=1, room=0) == [3]
    assert supply.ask(pending=9, room=5) == [4, 5]


def test_no_more_than_the_total():
    supply = Supply(2, 8)
    assert supply.ask(0, 8) == [0, 1]
    assert supply.ask(0, 8) == []
    assert not supply.is_over
    supply.on_answer(0, True)
    assert not supply.is_over
    supply.on_answer(1, True)
    assert supply.is_over
    assert supply.ask(0, 8) == []
    assert Supply(0, 0).is_over


def test_none_stops_the_questions_until_a_trial_ended():
    supply = Supply(None, 0)
    supply.ask(0, 1)
    supply.on_answer(0, False)
    assert supply.is_over
    assert supply.ask(0, 1) == []
    supply.on_end()
    assert not supply.is_over
    assert supply.ask(0, 1) == [0]


def test_what_was_answered_with_none_is_asked_again_and_nothing_twice():
    supply = Supply(6, 0)
    assert supply.ask(0, 4) == [0, 1, 2, 3]
    for index, has_config in ((0, True), (1, False), (2, True), (3, False)):
        supply.on_answer(index, has_config)
    supply.on_end()
    assert supply.ask(0, 1) == [1]
    assert supply.ask(0, 9) == [3, 4, 5]
    for index in (1, 3, 4, 5):
        supply.on_answer(index, True)
    assert supply.is_over


def test_a_none_to_a_question_from_before_a_trial_ended_says_little():
    supply = Supply(None, 0)
    supply.ask(0, 2)
    supply.on_end()
    supply.on_answer(0, False)
    assert not supply.is_over
    assert supply.ask(0, 2) == [0]
    supply.on_answer(1, False)
    assert not supply.is_over
    supply.on_answer(0, False)  # this one was asked afterwards
    assert supply.is_over


def test_a_none_to_a_question_from_before_a_resume_says_little():
    supply = Supply(None, 0)
    supply.ask(0, 2)
    assert supply.resize(4, 0) == [0, 1]
    supply.on_answer(0, False)
    assert not supply.is_over
    supply.on_answer(1, True)
    assert supply.ask(0, 9) == [0, 2, 3]
