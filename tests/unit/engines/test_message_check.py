"""What a trial may say of itself."""

import pytest

from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.core.types import Checkpoint
from overtone.engines.message_check import check
from overtone.errors import MessageError

START = Start("a", 1, 0, {}, Resources.of({"cpu": 1}), Placement(("n",), ((),)), None, 1.0)


@pytest.mark.parametrize(
    "uri", ["/exp/a/checkpoint_000003", "s3://bucket/exp/a/checkpoint_000003_f2", r"C:\exp\a\checkpoint_000003"]
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
