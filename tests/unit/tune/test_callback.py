"""Several callbacks as one."""

import pytest

from overtone.observers.callbacks.callback import HOOKS
from overtone.tune.callback import Callback, CallbackList


class Counts(Callback):
    def __init__(self):
        self.n = 0

    def on_trial_result(self, iteration, trials, trial, result, **info):
        self.n += 1

    def get_state(self):
        return {"n": self.n}

    def set_state(self, state):
        self.n = state["n"]


def test_each_hook_reaches_each_callback():
    calls = []

    def note(name, hook):
        return lambda **info: calls.append((name, hook, info))

    class Any:
        def __init__(self, name):
            for hook in ("setup", *HOOKS):
                setattr(self, hook, note(name, hook))

    both = CallbackList([Any("one"), Any("two")])
    for hook in ("setup", *HOOKS):
        getattr(both, hook)(iteration=3)
    assert calls == [(name, hook, {"iteration": 3}) for hook in ("setup", *HOOKS) for name in ("one", "two")]
    assert both.IS_CALLBACK_CONTAINER
    assert (len(both), both[1] is list(both)[1]) == (2, True)


def test_states_are_saved_to_a_folder_and_restored(tmp_path):
    first = CallbackList([Callback(), Counts()])
    assert not first.can_restore(str(tmp_path))
    for _ in range(3):
        first.on_trial_result(iteration=0, trials=[], trial=None, result={})
    first.save_to_dir(str(tmp_path), "a")
    second = CallbackList([Callback(), Counts()])
    assert second.can_restore(str(tmp_path))
    second.restore_from_dir(str(tmp_path))
    assert second[1].n == 3


def test_nothing_is_saved_without_a_state(tmp_path):
    stateless = CallbackList([Callback(), Callback()])
    stateless.save_to_dir(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RuntimeError, match="nothing was saved there"):
        stateless.restore_from_dir(str(tmp_path))
