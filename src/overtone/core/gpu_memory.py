"""The GPU memory that trials reserve: its estimates, and what follows if it was too little.

A demand with `auto` has a whole GPU until a trial like it has ended. From then on, such trials reserve what a
`MemoryEstimate` says, and share GPUs.

A trial that runs out of GPU memory has not failed. It goes on from its last checkpoint with `GROWTH` times
as much, the second time with whole GPUs. It has failed if that was too little as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from overtone.core import messages as m
from overtone.core.goal import lookup
from overtone.core.memory_estimate import MemoryEstimate
from overtone.core.resources import GPU_MEMORY, Resources, format_amount
from overtone.core.roster import Live, Roster
from overtone.core.trial import Template, Trial
from overtone.core.types import Config, Why

GROWTH = 1.5
MOST_RETRIES = 2

MOST_SHARED = 0.9
"""Largest part of a GPU's memory that a trial reserves beside others: one that needs more has it alone."""

_SEEN = ("returned", "raised", "halted")
"""Causes of ends at which a trial's use is known if it can be measured."""

RULE = "gpu_memory"
"""The rule of the reason for another reservation."""


class GpuMemory:
    """Decides how much GPU memory trials reserve.

    Args:
        roster: The trials.
        written: Returns the demand of a config as the user wrote it.
    """

    def __init__(self, roster: Roster, written: Callable[[Config], Resources]) -> None:
        self._roster = roster
        self._written = written
        self._estimates: dict[str, MemoryEstimate] = {}  # by group
        self._excesses: dict[str, int] = {}  # by the ids of the trials that ran out of memory
        self._is_unknown = False

    def demand(self, config: Config) -> Resources:
        """Return the demand of a config: estimated where "auto" is written and there is an estimate."""
        written = self._written(config)
        return written if written.auto is None else self._estimated(written, config)

    def in_template(self, template: Template) -> Template:
        """Return the template that makes trials with these demands."""
        return replace(template, resources=self.demand)

    def on_end(self, trial: Trial, live: Live, event: m.Ended) -> None:
        """Take the most memory that a trial used into the estimate, if it has reported a result."""
        if trial.resources.auto is None or not live.t or event.cause == "out_of_memory":
            return
        peak = event.gpu_memory
        group = _group(trial.resources.auto[0], trial.config)
        if not (peak and self._roster.ledger.largest_gpu_memory):
            if not self._is_unknown and group not in self._estimates and event.cause in _SEEN:
                self._is_unknown = True
                self._note(
                    f"the GPU memory of trial {trial.id} could not be measured, so the next one has a GPU of "
                    'its own as well; or write the amount, such as {"gpu_memory": "6GB"}'
                )
            return
        used = format_amount(GPU_MEMORY, peak)
        self._estimates.setdefault(group, MemoryEstimate()).add_peak(trial.id, peak)
        self._expect(trial, f"trial {trial.id} used up to {used} of GPU memory")

    def after_excess(self, trial: Trial, event: m.Ended) -> tuple[Resources, Why] | None:
        """Return the next demand of a trial that ran out of GPU memory, and the reason for it.

        None if it had whole GPUs, and ran out of memory before; or if it asked for no GPU memory.
        """
        before, times = trial.resources, self._excesses.get(trial.id, 0) + 1
        is_counted = before.auto is not None or before.gpu_memory
        if not is_counted or times > MOST_RETRIES or (times > 1 and before.is_alone):
            return None
        self._excesses[trial.id] = times
        amount = GROWTH * max(before.gpu_memory, event.gpu_memory)
        if before.auto is not None and amount:
            group = _group(before.auto[0], trial.config)
            self._estimates.setdefault(group, MemoryEstimate()).add_guess(trial.id, amount)
            self._expect(trial, f"trial {trial.id} ran out of GPU memory")
        after = self._reserving(before, amount, times > 1 or before.is_alone)
        had = "with a GPU of its own"
        if before.gpu_memory and not before.is_alone:
            had = f"with {format_amount(GPU_MEMORY, before.gpu_memory)}"
        return after, Why("out_of_memory", note=f"ran out of GPU memory {had}; next, {_shown(after)}")

    def _expect(self, trial: Trial, because: str) -> None:
        """Choose the estimate for trials like `trial` anew, and change the demands of those that wait."""
        assert trial.resources.auto is not None
        key, share = trial.resources.auto
        group, size = _group(key, trial.config), self._roster.ledger.largest_gpu_memory
        if not size or not self._estimates[group].update(size, max(1, int(1 / share + 1e-9))):
            return
        sample = self._estimated(trial.resources, trial.config)
        text = f"{because}: trials{f' with {group}' if group else ''} now reserve {_shown(sample)}"
        self._note(text)
        why = Why(RULE, note=text)
        for shape, waiting in self._roster.queue.adaptable():
            for one in waiting if shape.auto is not None else ():
                wanted = self._estimated(shape, one.config)
                if one.id not in self._excesses and wanted != shape:
                    self._roster.resize(one, wanted, why)

    def _estimated(self, resources: Resources, config: Config) -> Resources:
        """Return a demand with the estimate, if there is one."""
        assert resources.auto is not None
        key, _ = resources.auto
        amount = getattr(self._estimates.get(_group(key, config)), "amount", 0.0)
        return self._reserving(resources, amount, is_alone=False) if amount else resources

    def _reserving(self, resources: Resources, amount: float, is_alone: bool) -> Resources:
        """Return a demand for so many bytes; with whole GPUs if it `is_alone` or no other trial would fit."""
        most = MOST_SHARED * self._roster.ledger.largest_gpu_memory
        shares = {}
        if is_alone or amount >= most:
            shares = {"share": 1.0} if not resources.is_alone else {}
        elif resources.auto is not None:
            shares = {"share": resources.auto[1]}
        return resources.with_gpu_memory(float(round(min(amount, most))), **shares)

    def _note(self, text: str) -> None:
        self._roster.choices.append(m.Noted(text))


def _group(key: str, config: Config) -> str:
    """Return the name of the trials that share an estimate, such as "batch_size=64"; "" for all."""
    return f"{key}={lookup(config, key)!r:.100}" if key else ""


def _shown(resources: Resources) -> str:
    """Return the GPU memory of a demand as people say it."""
    amount = format_amount(GPU_MEMORY, resources.gpu_memory)
    if resources.is_alone:
        return f"a GPU of its own with {amount} free" if resources.gpu_memory else "a GPU of its own"
    return amount
