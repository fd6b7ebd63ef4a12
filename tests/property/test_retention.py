"""Checkpoints: nothing that is needed is deleted, and nothing else stays."""

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from overtone.core.retention import Retention
from overtone.core.types import Checkpoint


class Keeping(RuleBasedStateMachine):
    @initialize(keep=st.sampled_from([None, 0, 1, 2, 3]))
    def begin(self, keep):
        self.keep = keep
        self.retention = Retention(keep)
        self.stored = {}  # uri -> Checkpoint: what the store has
        self.pins = Counter()
        self.latest = {}
        self.t = Counter()

    def delete(self, uris):
        for uri in uris:
            assert self.pins[uri] == 0, "it is pinned"
            assert uri in self.stored, "it was deleted already"
            assert self.latest[self.stored[uri].trial_id].uri != uri, "it is the latest of its trial"
            del self.stored[uri]

    @rule(trial=st.sampled_from("ab"), score=st.floats(-2, 2), back=st.sampled_from([0, 0, 0, 2]))
    def save(self, trial, score, back):
        """Save at the next t, or go back and save to an earlier place again."""
        self.t[trial] = max(1, self.t[trial] + 1 - back)
        saved = Checkpoint(trial, self.t[trial], f"{trial}/{self.t[trial]}")
        self.stored[saved.uri] = self.latest[trial] = saved
        self.delete(self.retention.add(saved, score))

    @precondition(lambda self: getattr(self, "stored", None))
    @rule(data=st.data())
    def pin(self, data):
        uri = data.draw(st.sampled_from(sorted(self.stored)))
        self.pins[uri] += 1
        self.retention.pin(self.stored[uri])

    @precondition(lambda self: +getattr(self, "pins", Counter()))
    @rule(data=st.data())
    def unpin(self, data):
        uri = data.draw(st.sampled_from(sorted(+self.pins)))
        self.pins[uri] -= 1
        self.delete(self.retention.unpin(self.stored[uri]))

    @invariant()
    def enough_is_kept_and_no_more(self):
        if not hasattr(self, "retention"):
            return
        for trial in "ab":
            kept = self.retention.of(trial)
            stored = [one for one in self.stored.values() if one.trial_id == trial]
            assert {one.uri for one in kept} <= {one.uri for one in stored}
            if self.keep is not None:
                others = [one for one in kept if one != self.latest[trial]]
                assert len(others) <= self.keep
                assert all(one in kept or self.pins[one.uri] for one in stored)
            else:
                assert len(kept) == len(stored)
            if trial in self.latest:
                assert self.latest[trial] in kept

    def teardown(self):
        if not hasattr(self, "retention"):
            return
        for uri in list(self.pins.elements()):
            self.pins[uri] -= 1
            self.delete(self.retention.unpin(self.stored[uri]))
        if self.keep is not None:
            assert all(one in self.retention.of(one.trial_id) for one in self.stored.values())


TestKeeping = Keeping.TestCase
TestKeeping.settings = settings(deadline=None, max_examples=50, stateful_step_count=25)
