"""What a trial may say of itself."""

import pytest

from overtone.core.messages import Reported, Saved, Start, Started
from overtone.core.resources import Placement, Resources
from overtone.core.types import Checkpoint
from overtone.engines.message_check import ResultCheck, check
from overtone.errors import MessageError

START = Start("a", 1, 0, {}, Resources.of({"cpu": 1}), Placement(("n",), ((),)), None, 1.0)


@pytest.mark.parametrize(
    "uri",
    ["/exp/a/checkpoint_000003", "s3://bucket/exp/a/checkpoint_000003_f2", r"C:\exp\a\checkpoint_000003"],
)
def test_a_checkpoint_in_the_folder_of_the_trial_is_taken(uri):
    check(("saved", "a", 1, Checkpoint("a", 3, uri)), START)
    check(("reported", "a", 1, 3, "{}", Checkpoint("a", 3, uri)), START)


@pytest.mark.parametrize(
    "message",
    [
        ("saved", "a", 1, Checkpoint("a", 3, "/exp/b/checkpoint_000003")),
        ("reported", "a", 1, 3, "{}", Checkpoint("a", 3, "/exp/journal.jsonl")),
        ("saved", "a", 1, Checkpoint("a", 3, "/exp/a/checkpoint_000003/../../b/checkpoint_000003")),
        ("saved", "a", 1, Checkpoint("b", 3, "/exp/b/checkpoint_000003")),
        ("saved", "a", 0, Checkpoint("a", 3, "/exp/a/checkpoint_000003")),
        ("saved", "b", 1, Checkpoint("b", 3, "/exp/b/checkpoint_000003")),
    ],
)
def test_another_checkpoint_or_trial_is_refused(message):
    """The driver deletes checkpoints by the paths that trials say."""
    with pytest.raises(MessageError):
        check(message, START)


OWN = {
    "time_this_iter_s": 0.1, "time_total_s": 0.1, "time_since_restore": 0.1, "timesteps_total": None,
    "timestamp": 1, "iterations_since_restore": 1, "date": "today", "done": False,
}  # fmt: skip


def at(t: int) -> Checkpoint:
    return Checkpoint("a", t, f"/exp/a/checkpoint_{t:06d}")


def begun(restored=None) -> ResultCheck:
    results = ResultCheck()
    results.take(Started(0.0, "a", 1, "n", 1, restored=restored))
    return results


def result(t: int, kept=None, **fields) -> Reported:
    return Reported(1.0, "a", 1, t, {**OWN, "training_iteration": t, **fields}, kept)


def test_results_are_numbered_from_the_checkpoint_on():
    results = begun(at(3))
    for event in (result(4), result(5, at(5)), Saved(1.0, "a", 1, at(5)), result(6, at(5)), result(7)):
        results.take(event)
    begun().take(result(1, at(1)))


@pytest.mark.parametrize("t", [-1, 0, 2, 3, 5, 999_999])
def test_a_result_that_is_not_the_next_one_is_refused(t):
    with pytest.raises(MessageError, match=f"result {t} after result 3"):
        begun(at(3)).take(result(t))


@pytest.mark.parametrize(
    "event", [result(4, at(5)), Saved(1.0, "a", 1, at(4)), Saved(1.0, "a", 1, at(999_999))]
)
def test_a_checkpoint_of_a_result_that_was_not_reported_is_refused(event):
    with pytest.raises(MessageError, match="it saves"):
        begun(at(3)).take(event)


@pytest.mark.parametrize("fields", [{"done": 1}, {"date": 3}, {"training_iteration": 5}])
def test_a_result_without_what_the_session_adds_is_refused(fields):
    with pytest.raises(MessageError, match="not a session's"):
        begun(at(3)).take(result(4, **fields))
