"""The journal of an experiment, whose header describes the experiment completely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from overtone.experiment import Experiment
from overtone.option import CODE, DATA, options
from overtone.run.header.source_hash import main_script, parameter_hashes, source_hash, value_hash
from overtone.run.warm_start import several
from overtone.store.folder_mark import JOURNAL

if TYPE_CHECKING:
    from overtone.journal.codec import Codec
    from overtone.journal.writer import JournalWriter
    from overtone.run.parts import Parts


def header_parts(parts: Parts) -> Mapping[str, Any]:
    """Return the description of the experiment for the journal's header."""
    from overtone.journal.header import described
    from overtone.space import space_to_data

    plan, experiment = parts.plan, parts.plan.experiment
    policy = experiment.checkpoints
    return {
        "trainable": described(plan.bound.trainable) if callable(experiment.trainable) else plan.name,
        "name": plan.name,
        "source": source_hash(experiment.trainable),
        "parameters": parameter_hashes(experiment.trainable),
        "space": space_to_data(plan.space),
        "metric": list(plan.goal.metrics),
        "mode": list(plan.goal.modes or filter(None, [plan.goal.mode])),
        "constraints": dict(zip(plan.goal.constraints, plan.goal.bounds, strict=True)),
        "scheduler": described(plan.scheduler),
        "searcher": described(plan.searcher),
        "stop": described(experiment.stop),
        "checkpoints": {name: getattr(policy, name) for name in policy.__slots__},
        "options": {
            name: (_named if one.recorded == CODE else described)(getattr(experiment, name))
            for name, one in options(Experiment).items()
            if one.recorded in (DATA, CODE)
        },
        "limits": asdict(parts.limits),
        "warm_start": [value_hash(one) for one in several(experiment.warm_start)],
        "engine": type(plan.engine).__name__,
        "main": main_script(),
    }


def _named(value: Any) -> Any:
    """Return a value as data; code by its import path."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return [_named(one) for one in value]
    code = getattr(value, "__wrapped__", value)
    code = code if hasattr(code, "__qualname__") else type(code)
    return {"path": f"{code.__module__}.{code.__qualname__}", "arguments": {}}


def codec_for(space: Any) -> Codec:
    """Return the codec for configs of `space`, also for values that are not data."""
    from overtone.journal.codec import Codec
    from overtone.space.data import decode_config, encode_config, is_data_alone

    return Codec(partial(encode_config, space), partial(decode_config, space), not is_data_alone(space))


def open_journal(parts: Parts, code: Mapping[str, Any] | None = None) -> JournalWriter:
    """Create the experiment's journal with its header, and return it.

    Args:
        code: Where the code of the trainable comes from; see `CodeFacts`.
    """
    from overtone.journal.header import new_header, set_apart
    from overtone.journal.writer import JournalWriter

    experiment = parts.plan.experiment
    header = {**new_header(parts.seed, header_parts(parts)), "nth": parts.nth}
    if experiment.name is not None:
        header["called"] = experiment.name  # The folder may be renamed.
    if experiment.rerun_of is not None:
        header["rerun_of"] = dict(experiment.rerun_of)
    if code:
        header["code"] = dict(code)
    if parts.earlier:
        header["earlier"] = list(parts.earlier)  # a resume learns the same, whatever became of the sources
    if parts.plan.engine.capabilities.repeats:
        header = set_apart(header, parts.folder)
    path, codec = parts.folder / JOURNAL, codec_for(parts.plan.space)
    return JournalWriter(path, header, experiment.durability, codec, parts.place.lock)
