"""The states of callbacks in the experiment's folder."""

import pytest

from overtone import tune
from overtone.errors import CallbackError
from overtone.run.resume.callback_states import EVERY_S, NAME, CallbackStates, read_states


class Counts(tune.Callback):
    def __init__(self, state=None):
        self.state, self.n_asked = state, 0

    def get_state(self):
        self.n_asked += 1
        return self.state

    def set_state(self, state):
        self.state = state


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


STATES = [{"n": 3}, {"seen": {"a", "b"}, "pair": (1, float("inf")), 7: [None, True]}, {"text": "é\n"}]


@pytest.mark.parametrize("state", STATES)
def test_a_state_comes_back_as_it_was(tmp_path, state):
    states = CallbackStates(tmp_path, [tune.Callback(), Counts(state)])
    states.close()
    again = Counts()
    CallbackStates(tmp_path, [tune.Callback(), again]).restore()
    assert again.state == state
    assert read_states(str(tmp_path / NAME)) == {1: state}


def test_states_are_written_now_and_then_and_at_the_end(tmp_path):
    clock, counts = Clock(), Counts({"n": 1})
    states = CallbackStates(tmp_path, [counts], clock)
    states.flush()
    assert (counts.n_asked, (tmp_path / NAME).exists()) == (0, False)
    clock.now = EVERY_S
    states.flush()
    states.flush()
    assert (counts.n_asked, read_states(str(tmp_path / NAME))) == (1, {0: {"n": 1}})
    counts.state["n"] = 2
    states.close()
    assert read_states(str(tmp_path / NAME)) == {0: {"n": 2}}


@pytest.mark.parametrize("empty", [None, {}])
@pytest.mark.parametrize("is_resumed", [False, True])
def test_a_state_that_became_empty_does_not_come_back(tmp_path, empty, is_resumed):
    callback = Counts({"n": 1})
    states = CallbackStates(tmp_path, [callback])
    states.close()
    if is_resumed:
        states = CallbackStates(tmp_path, [callback])
        states.restore()
    callback.state = empty
    states.close()
    again = Counts("as it began")
    CallbackStates(tmp_path, [again]).restore()
    assert again.state == "as it began"


def test_a_number_too_long_to_be_read_is_no_state(tmp_path, capsys):
    states = CallbackStates(tmp_path, [Counts({"n": 10**5000}), Counts({"n": 1})])
    states.close()
    assert read_states(str(tmp_path / NAME)) == {1: {"n": 1}}
    assert "the state of Counts is not kept" in capsys.readouterr().err


def test_callbacks_without_a_state_cost_nothing(tmp_path):
    assert not CallbackStates(tmp_path, [tune.Callback(), object()])
    states = CallbackStates(tmp_path, [Counts()])
    assert states
    states.close()
    assert list(tmp_path.iterdir()) == []


class Own:
    pass


@pytest.mark.parametrize("state", [{"it": Own()}, {"it": tune.Callback}, {"it": open}, Own()], ids=range(4))
def test_what_is_not_data_is_left_out_with_one_line(tmp_path, state, capfd):
    states = CallbackStates(tmp_path, [Counts(state), Counts({"n": 1})])
    states.close()
    states.close()
    assert read_states(str(tmp_path / NAME)) == {1: {"n": 1}}
    assert capfd.readouterr().err.count("the state of Counts is not kept for a resume") == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"a": 1}', '{"0": {"classes": [["os", "system"]], "tree": ["v", 0]}}']
)
def test_a_damaged_file_is_said_and_nothing_of_it_is_used(tmp_path, text, capfd):
    (tmp_path / NAME).write_text(text)
    counts = Counts("as before")
    CallbackStates(tmp_path, [counts]).restore()
    assert counts.state == "as before"
    assert "the states of callbacks are lost" in capfd.readouterr().err


def test_a_callback_that_raises_is_named(tmp_path):
    class Broken(tune.Callback):
        def get_state(self):
            raise LookupError("no state")

    with pytest.raises(CallbackError, match="Broken.get_state raised LookupError: no state"):
        CallbackStates(tmp_path, [Broken()]).close()


def test_a_full_disk_does_not_end_the_run(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("overtone.run.resume.callback_states.replace_file", full)
    CallbackStates(tmp_path, [Counts({"n": 1})]).close()
    assert "the states of callbacks cannot be written" in capfd.readouterr().err


def full(path, data):
    raise OSError(28, "No space left on device")
