"""A scheduler for Overtone that stops trials below the median."""

from overtone.tune.schedulers import Stop, TrialScheduler, Why


class BetterHalf(TrialScheduler):
    """Stop a trial whose score is below the median of its rung.

    Args:
        every: Number of results between two decisions.
    """

    def __init__(self, every=3):
        self.every = every
        self.scores = {}

    def on_result(self, trial, result):
        if result.t % self.every:
            return self.CONTINUE
        scores = self.scores.setdefault(result.t, [])
        scores.append(result.score)
        median = sorted(scores)[len(scores) // 2]
        if result.score >= median:
            return self.CONTINUE
        return Stop(Why("below the median", result.t, cutoff=median))

    def choose_trial_to_run(self, trials):
        return trials.first_runnable()
