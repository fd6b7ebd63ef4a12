from __future__ import annotations

import builtins
import pickle
import traceback

import pytest

from overtone.analysis.trial_error import BUILTINS, trial_error
from overtone.errors import TrialError, TuneError


def raised(error):
    """The line and the traceback that a trial sends when it raises `error`."""
    try:
        raise error
    except BaseException as caught:
        text = str(caught).strip()
        line = f"{type(caught).__name__}: {text.splitlines()[0]}" if text else type(caught).__name__
        return line, traceback.format_exc()


@pytest.mark.parametrize("name", sorted(BUILTINS))
def test_a_builtin_exception_comes_back_as_an_instance_of_its_class(name):
    kind = getattr(builtins, name)
    error = trial_error("t1", *raised(kind("too large")))
    assert isinstance(error, kind)
    assert isinstance(error, TrialError)
    assert isinstance(error, TuneError)
    assert (error.trial_id, error.type_name) == ("t1", name)
    assert error.text == str(kind("too large"))
    assert str(error).startswith(f"trial t1 failed: {name}: {kind('too large')}\nTraceback")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.traceback) == (type(error), str(error), error.traceback)


def test_it_can_be_caught_as_what_it_was():
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        raise trial_error("t1", *raised(ZeroDivisionError("division by zero")))


def test_a_text_of_several_lines_is_complete():
    error = trial_error("t1", *raised(ValueError("first\n  second\nthird")))
    assert error.text == "first\n  second\nthird"
    assert type(error.__class__) is type


def test_an_exception_without_a_text():
    error = trial_error("t1", *raised(ValueError()))
    assert isinstance(error, ValueError)
    assert (error.type_name, error.text) == ("ValueError", "")


def test_a_unicode_error_with_five_arguments_is_the_nearest_that_takes_a_text():
    error = trial_error("t1", *raised(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")))
    assert isinstance(error, UnicodeError)
    assert error.type_name == "UnicodeDecodeError"


def test_a_class_of_the_user_is_named_and_never_looked_up():
    for kind in (type("ValueError", (Exception,), {}), type("OwnError", (KeyError,), {})):
        error = trial_error("t1", *raised(kind("mine")))
        assert type(error) is TrialError
        assert error.type_name == kind.__name__
    for name in ("eval", "__import__", "BaseException", "SystemExit", "KeyboardInterrupt"):
        assert type(trial_error("t1", f"{name}: x", f"Traceback\n{name}: x")) is TrialError


def test_the_first_of_chained_exceptions_is_not_the_one_that_ended_the_trial():
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            raise ValueError("outer")  # noqa: B904
    except ValueError:
        text = traceback.format_exc()
    error = trial_error("t1", "ValueError: outer", text)
    assert isinstance(error, ValueError)
    assert error.text == "outer"


def test_a_trial_that_did_not_raise_has_a_reason_and_no_type():
    error = trial_error("t1", "killed by SIGKILL", "")
    assert (str(error), error.type_name, error.text) == (
        "trial t1 failed: killed by SIGKILL",
        "",
        "killed by SIGKILL",
    )
    assert "no reason is on record" in str(trial_error("t1", "", ""))
