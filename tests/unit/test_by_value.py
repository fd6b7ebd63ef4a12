"""Pickles by value: code of a script keeps the name of its file."""

from __future__ import annotations

import pickle
import sys
import traceback
from types import ModuleType

import cloudpickle

from overtone.by_value import dumps

SCRIPT = """
def fail(text):
    def inner():
        raise RuntimeError(text)
    return inner
"""


def test_a_traceback_names_the_file_and_shows_the_line(tmp_path, monkeypatch):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, "utf-8")
    script = ModuleType("a_script")
    exec(compile(SCRIPT, str(path), "exec"), vars(script))
    monkeypatch.setitem(sys.modules, "a_script", script)
    cloudpickle.register_pickle_by_value(script)
    try:
        packed = dumps(script.fail("unlucky"))
    finally:
        cloudpickle.unregister_pickle_by_value(script)
    inner = pickle.loads(packed)
    try:
        inner()
    except RuntimeError:
        shown = traceback.format_exc()
    assert f'File "{path}", line 4, in inner' in shown
    assert "raise RuntimeError(text)" in shown


def test_values_and_lambdas_come_back():
    add = pickle.loads(dumps(lambda x, y=2: {"sum": x + y, "name": "<dynamic-code>"}))
    assert add(1) == {"sum": 3, "name": "<dynamic-code>"}
    assert add.__code__.co_filename == __file__
