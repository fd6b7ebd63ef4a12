"""Checkpoints: nothing that is needed is deleted, and nothing else stays."""

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from overtone.core.retention import NEWEST_AUTOMATIC, Retention
from overtone.core.types import Checkpoint

TRIALS = "abc"


class Keeping(RuleBasedStateMachine):
    """Trials save, go on from each other's checkpoints, are tried again, end, and are run again."""

    @initialize(
        keep=st.sampled_from([None, None, 0, 1, 2, 3]), most=st.sampled_from([None, None, 0, 50, 200])
    )
    def begin(self, keep, most):
        self.keep, self.most = keep, most
        self.retention = Retention(keep, most)
        self.stored = {}  # uri -> Checkpoint: what the store has
        self.pins = Counter()
        self.has = {}  # trial -> what it would go on from
        self.ended = set()
        self.latest = {}
        self.t = Counter()
        self.n = 0

    def delete(self, uris):
        for uri in uris:
            assert uri in self.stored, "it was deleted already"
            saved = self.stored.pop(uri)
            resting = [trial for trial in self.ended if self.has.get(trial) == saved]
            if self.most is None:
                assert self.pins[uri] == 0, "it is pinned"
                assert self.latest[saved.trial_id] != saved, "it is the latest of its trial"
            assert self.pins[uri] == len(resting), "more than ended trials need it"
            del self.pins[uri]
            for trial in resting:
                del self.has[trial]

    def pin(self, checkpoint):
        self.pins[checkpoint.uri] += 1
        self.retention.pin(checkpoint)

    def unpin(self, checkpoint):
        self.pins[checkpoint.uri] -= 1
        self.delete(self.retention.unpin(checkpoint))

    def go_on_from(self, trial, checkpoint):
        self.pin(checkpoint)
        before = self.has.get(trial)
        self.has[trial] = checkpoint
        if before is not None:
            self.unpin(before)

    @rule(
        trial=st.sampled_from(TRIALS), score=st.floats(-2, 2), merit=st.floats(-2, 2),
        size=st.integers(0, 60), is_automatic=st.booleans(), back=st.sampled_from([0, 0, 0, 2]),
    )  # fmt: skip
    def save(self, trial, score, merit, size, is_automatic, back):
        """Save at the next t, or at an earlier one again, which is another place."""
        if trial in self.ended:
            return
        self.n += 1
        self.t[trial] = max(1, self.t[trial] + 1 - back)
        saved = Checkpoint(trial, self.t[trial], f"{trial}/{self.t[trial]}_{self.n}", size, is_automatic)
        self.stored[saved.uri] = self.latest[trial] = saved
        self.go_on_from(trial, saved)
        self.delete(self.retention.add(saved, score, merit))

    @rule(trial=st.sampled_from(TRIALS), source=st.sampled_from(TRIALS))
    def clone(self, trial, source):
        if trial not in self.ended and source in self.has:
            self.go_on_from(trial, self.has[source])

    @rule(trial=st.sampled_from(TRIALS), data=st.data())
    def try_again(self, trial, data):
        """From what it has, or from what came before it and is still there; or anew."""
        if trial in self.ended or trial not in self.has:
            return
        fallbacks = self.retention.before(self.has[trial])
        assert all(one.uri in self.stored and one.t <= self.has[trial].t for one in fallbacks)
        found = data.draw(st.sampled_from([self.has[trial], *fallbacks, None]))
        if found is None:
            self.unpin(self.has.pop(trial))
        else:
            self.go_on_from(trial, found)

    @rule(trial=st.sampled_from(TRIALS))
    def end(self, trial):
        if trial not in self.ended:
            self.ended.add(trial)
            if trial in self.has:
                self.delete(self.retention.rest(self.has[trial]))

    @rule(trial=st.sampled_from(TRIALS))
    def run_again(self, trial):
        if trial in self.ended:
            self.ended.remove(trial)
            if trial in self.has:
                self.retention.wake(self.has[trial])

    @precondition(lambda self: getattr(self, "stored", None))
    @rule(data=st.data())
    def need(self, data):
        """A restart that is on its way needs another trial's checkpoint for a while."""
        self.pin(self.stored[data.draw(st.sampled_from(sorted(self.stored)))])

    @precondition(lambda self: getattr(self, "stored", None) and self.extra())
    @rule(data=st.data())
    def need_no_longer(self, data):
        self.unpin(self.stored[data.draw(st.sampled_from(sorted(self.extra())))])

    def extra(self):
        """The pins that no trial has for itself."""
        return +(self.pins - Counter(one.uri for one in self.has.values()))

    @invariant()
    def enough_is_kept_and_no_more(self):
        if not hasattr(self, "retention"):
            return
        for trial, checkpoint in self.has.items():
            assert checkpoint.uri in self.stored, f"{trial} would go on from it"
        for trial in TRIALS:
            kept = self.retention.of(trial)
            stored = [one for one in self.stored.values() if one.trial_id == trial]
            assert set(kept) <= set(stored)
            assert all(one in kept or self.pins[one.uri] for one in stored)
            if self.most is None and trial in self.latest:
                assert self.latest[trial] in kept
            if self.keep is not None:
                assert len(kept) <= self.keep + 1
            else:
                assert sum(one.is_automatic for one in kept) <= NEWEST_AUTOMATIC + 1
                if self.most is None:
                    assert sum(not one.is_automatic for one in kept) == sum(
                        not one.is_automatic for one in stored
                    )

    @invariant()
    def what_could_go_goes_where_there_is_no_room(self):
        if getattr(self, "most", None) is None:
            return
        resting = Counter(self.has[trial].uri for trial in self.ended if trial in self.has)
        if sum(one.size_bytes for one in self.stored.values()) > self.most:
            loose = [
                one
                for one in self.stored.values()
                if one.size_bytes and self.pins[one.uri] <= resting[one.uri]
            ]
            assert loose == []

    def teardown(self):
        if not hasattr(self, "retention"):
            return
        for uri in list(self.extra().elements()):
            self.unpin(self.stored[uri])
        for trial in TRIALS:
            self.run_again(trial)
        for trial in list(self.has):
            self.unpin(self.has.pop(trial))
        assert not +self.pins
        assert all(one in self.retention.of(one.trial_id) for one in self.stored.values())


TestKeeping = Keeping.TestCase
TestKeeping.settings = settings(deadline=None, max_examples=60, stateful_step_count=30)
