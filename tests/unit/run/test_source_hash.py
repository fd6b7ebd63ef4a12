"""A trainable's hash: equal for equal code, in each process, and different after an edit."""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

from overtone import tune
from overtone.run.header.source_hash import is_same_source, source_hash

PLAIN = """
def train(config):
    x = config["x"]
    return x + 1
"""
SAME = """
# a comment before it


def train(config):  # and one beside it

    x = config["x"]\t
    # and one inside

    return x + 1
"""
INDENTED = "if True:\n" + textwrap.indent(PLAIN, "    ")
OTHER = PLAIN.replace("+ 1", "+ 2")


@pytest.fixture
def load(tmp_path):
    """Imports source text from a file that is older than this process."""
    count = iter(range(100))

    def loaded(source, old=True):
        path = tmp_path / f"source_{next(count)}.py"
        path.write_text(source)
        if old:
            os.utime(path, (1, 1))
        spec = importlib.util.spec_from_file_location("source", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return loaded


def is_same(one, other):
    return is_same_source(source_hash(one), source_hash(other))


@pytest.mark.parametrize("source", [SAME, INDENTED])
def test_comments_blank_lines_and_indentation_do_not_count(load, source):
    one, other = load(PLAIN).train, load(source).train
    assert "text" in source_hash(one)
    assert is_same(one, other) is True


@pytest.mark.parametrize("before", ["x = '''\n\n'''", "x = '''  \n'''", "x = '''# no\n'''"])
def test_text_in_quotes_counts(load, before):
    one = load(f"def train(config):\n    {before}\n").train
    other = load("def train(config):\n    x = '''\n'''\n").train
    assert is_same(one, other) is False


def test_an_edit_counts(load):
    assert is_same(load(PLAIN).train, load(OTHER).train) is False


CLASS = """
class Base:
    def step(self):
        return {"loss": 1}

class Train(Base):
    def setup(self, config):
        self.x = 1
"""


@pytest.mark.parametrize("edited", ['"loss": 2', "self.x = 2"])
def test_a_class_counts_with_its_bases_of_the_same_module(load, edited):
    old = {'"loss": 2': '"loss": 1', "self.x = 2": "self.x = 1"}[edited]
    assert is_same(load(CLASS).Train, load("# moved\n" + CLASS).Train) is True
    assert is_same(load(CLASS).Train, load(CLASS.replace(old, edited)).Train) is False
    in_memory, edited_in_memory = {}, {}
    exec(CLASS, in_memory)
    exec(CLASS.replace(old, edited), edited_in_memory)
    assert is_same(in_memory["Train"], edited_in_memory["Train"]) is False


def test_a_lambda_is_its_body_and_not_the_call_around_it(load):
    source = "def run(f, n):\n    return f\ng = run(lambda c, k=1: (\n    c['é'] + 1), n={})\n"
    one = load(source.format(8)).g
    assert is_same(one, load(source.format(20)).g) is True
    assert is_same(one, load(source.format(8).replace("+ 1", "+ 2")).g) is False
    two = load("a, b = (lambda c: c + 1), (lambda c: c + 2)\n")
    assert is_same(two.a, two.b) is False


WRAPPED = """
import functools

def logged(function):
    {}
    def wrapper(*args):
        return function(*args)
    return wrapper

@logged
def train(config):
    return {}
"""


@pytest.mark.parametrize("keeps", ["@functools.wraps(function)", ""])
def test_decorators_are_looked_through(load, keeps):
    one, other = load(WRAPPED.format(keeps, 1)).train, load(WRAPPED.format(keeps, 2)).train
    assert is_same(one, other) is False
    assert is_same(one, load(WRAPPED.format(keeps, 1)).train) is True


def test_wrappers_and_objects_are_what_they_wrap(load):
    module = load(PLAIN + "\nclass Callable:\n    def __call__(self, config):\n        return 1\n")
    plain = source_hash(module.train)
    assert source_hash(functools.partial(module.train, 1)) == plain
    assert source_hash(tune.with_parameters(functools.partial(module.train), data=[1])) == plain
    called = module.Callable()
    assert source_hash(called) == source_hash(module.Callable)
    assert is_same(called.__call__, load(PLAIN).train) is False


def test_code_without_source_counts_by_what_it_does(load):
    spaces = []
    for source in (PLAIN, SAME, OTHER):
        spaces.append({})
        exec(source, spaces[-1])
    plain, same, other = (one["train"] for one in spaces)
    assert "text" not in source_hash(plain)
    assert is_same(plain, same) is True
    assert is_same(plain, other) is False
    assert is_same(plain, load(PLAIN).train) is True  # a script that became a module


def test_a_file_that_was_written_since_is_not_believed(load):
    assert "text" not in source_hash(load(PLAIN, old=False).train)
    assert is_same(load(PLAIN, old=False).train, load(PLAIN).train) is True


def test_what_cannot_be_compared_is_unknown():
    assert is_same_source({}, {"text": "a"}) is None
    assert is_same_source({"code-3.10": "a"}, {"text": "b", "code-3.11": "c"}) is None
    assert is_same_source({"text": "a", "code-3.10": "a"}, {"text": "b", "code-3.10": "a"}) is False


class Odd:
    def __getattr__(self, name):
        raise RuntimeError(name)


@pytest.mark.parametrize("make", [lambda: print, Odd, lambda: tune.run, lambda: None])
def test_odd_trainables_have_a_hash_or_none(make):
    source_hash(make())


def test_another_process_finds_the_same(load):
    source = PLAIN.replace("return x", 'assert x not in {"a", "b", "c"}\n    return x')
    source += "if __name__ == '__main__':\n    from overtone.run.header.source_hash import source_hash\n"
    module = load(source + "    print(source_hash(train))\n")
    command = [sys.executable, module.__file__]
    found = subprocess.check_output(command, env={**os.environ, "PYTHONHASHSEED": "1"}, text=True)
    assert found.strip() == repr(source_hash(module.train))
    assert "text" in found
