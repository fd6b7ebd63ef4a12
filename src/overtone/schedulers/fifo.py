"""First in, first out: trials start in order, and each runs until it is done."""

from overtone.core import decision, messages
from overtone.schedulers.base import TrialScheduler


class FIFOScheduler(TrialScheduler):
    needs_metric, ends_trials, rules_from, shown = False, False, messages.NEVER, "FIFO scheduling algorithm."

    def on_result(self, trial: object, result: object) -> decision.Decision:
        """Return CONTINUE: it stops no trial."""
        return decision.CONTINUE
