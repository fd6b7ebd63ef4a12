from __future__ import annotations

import functools
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.engines.local import payload
from overtone.engines.local.payload import write_payload
from overtone.errors import TrainableError
from overtone.worker.server.driver_environment import load_job, take_over


def train(config: Any) -> str:
    import json as _json  # an import that a warm server makes ahead
    from json import decoder, dumps  # noqa: F401

    import no_such_module  # noqa: F401

    return _json.dumps(config)


def test_a_job_arrives_with_the_drivers_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(sys, "argv", ["train.py"])
    descriptor = write_payload(Job(train, "train", tmp_path, log_to_file=("o", "e")), ("0", "3"), True)
    try:
        around = take_over(descriptor)
        job = load_job(descriptor, around)
    finally:
        os.close(descriptor)
    assert (around.gpu_ids, around.folder, around.log_to_file) == (("0", "3"), str(tmp_path), ("o", "e"))
    assert around.preload == ("json", "json.decoder")
    assert "OMP_NUM_THREADS" in around.thread_variables
    assert job.trainable.__name__ == "train"


def test_a_module_is_found_by_its_name_only_where_a_new_python_would_find_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert payload._can_be_found(json)
    assert payload._can_be_found(json.decoder)  # type: ignore[attr-defined]
    assert not payload._can_be_found(ModuleType("json"))  # another file of that name
    assert not payload._can_be_found(ModuleType("no_such_module"))
    nowhere = ModuleType("no_such_module")
    monkeypatch.setitem(sys.modules, "no_such_module", nowhere)
    monkeypatch.setattr(train, "__module__", "no_such_module")
    assert payload._unimportable_module(functools.partial(train, 1)) is nowhere
    assert payload._unimportable_module(json.dumps) is None
    assert payload._unimportable_module(len) is None
    assert json.decoder.__spec__ is not None  # type: ignore[attr-defined]
    monkeypatch.setattr(json.decoder.__spec__, "_initializing", True, raising=False)  # type: ignore[attr-defined]
    assert payload._unimportable_module(json.JSONDecoder) is json.decoder  # type: ignore[attr-defined]


def test_by_value_registration_does_not_outlive_the_pickling(tmp_path: Path) -> None:
    import cloudpickle

    os.close(write_payload(Job(train, "train", tmp_path), (), True))
    assert train.__module__ not in cloudpickle.list_registry_pickle_by_value()


def test_what_cannot_be_pickled_is_a_trainable_error(tmp_path: Path) -> None:
    import threading

    lock = threading.Lock()
    with pytest.raises(TrainableError, match="the captured variable 'lock'") as raised:
        write_payload(Job(lambda config: lock, "lambda", tmp_path), (), True)
    assert isinstance(raised.value.__cause__, TypeError)
