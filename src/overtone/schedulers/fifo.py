"""First in, first out: every trial runs until it is done."""

from overtone.core import decision, messages, protocols


class FIFOScheduler(protocols.TrialScheduler):
    """Runs trials in order and stops none."""

    needs_metric = False

    def on_result(self, trial: object, result: object) -> decision.Decision:
        return decision.CONTINUE

    def next_decision(self, trial: object) -> float:
        return messages.NEVER

    def describe(self) -> str:
        return "Using FIFO scheduling algorithm."


FIFO = FIFOScheduler
