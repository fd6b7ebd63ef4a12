"""What our own parts can do is declared by their interfaces, and is not looked up by name or class.

A part is an engine, searcher, scheduler, stopper, observer, store or channel. A lookup is a `getattr` or
`hasattr` on a part or for a name that an interface declares, a test of the class of a part for anything but
its interface, and a comparison of a class's name or of a method with that of an interface.
"""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src/overtone"

SEAMS = {  # class: module
    "Capabilities": "core/capabilities.py",
    "Engine": "core/protocols.py",
    "Observer": "core/protocols.py",
    "Searcher": "core/protocols.py",
    "Stopper": "core/protocols.py",
    "Store": "core/store.py",
    "TrialScheduler": "core/protocols.py",
    "Channel": "worker/protocol.py",
}
PARTS = {"engine", "searcher", "scheduler", "stopper", "observer", "store", "channel", "console", "host"}

ALLOWED = {  # reason: the lookups, each in a file
    "an object of the user, whose form is found out where it comes in": {
        ("research/what_if.py", "getattr(scheduler, attribute, None)"),
        ("run/algorithms.py", "getattr(type(searcher), '__name__', searcher)"),
        ("schedulers/adapter.py", "getattr(type(self._given), 'on_result', None)"),
        ("schedulers/resize.py", "getattr(named[0], 'metric', None)"),
        ("schedulers/resize.py", "getattr(named[0], 'mode', None)"),
        ("schedulers/resize.py", "getattr(one, 'metric', None)"),
        ("searchers/algorithm.py", "getattr(algorithm, 'metric', None)"),
        ("searchers/algorithm.py", "getattr(algorithm, 'mode', None)"),
        ("searchers/adapter.py", "getattr(self._given, 'set_max_concurrency', lambda _: False)"),
        ("searchers/base.py", "getattr(cls, 'suggest', None)"),
        ("stoppers/adapter.py", "getattr(given, 'awaits', ())"),
        ("stoppers/adapter.py", "getattr(given, 'timeout_s', None)"),
        ("stoppers/adapter.py", "getattr(self.given, 'next_decision', super().next_decision)"),
        ("stoppers/adapter.py", "getattr(self.given, 'stop_all', super().stop_all)"),
        ("stoppers/function.py", "hasattr(function, 'stop_all')"),
        ("stoppers/translate.py", "type(spec) is CombinedStopper"),
    },
    "a value, or an object of another library": {
        ("schedulers/arguments.py", "type(value).__name__ in ('bool', 'bool_')"),
        ("searchers/flat.py", "type(node.value).__module__.split('.')"),
        ("searchers/library/hyperopt_space.py", "type(value).__module__.startswith('hyperopt.')"),
        ("searchers/library/optuna_params.py", "type(trial.study.sampler).__name__ == 'GPSampler'"),
        ("searchers/library/optuna_samplers.py", "type(value).__name__ == 'LazyRandomState'"),
        ("searchers/library/optuna_samplers.py", "type(value).__name__.endswith('Sampler')"),
        ("sklearn/parts.py", "type(last).__module__.partition('.')"),
        ("sklearn/spaces.py", "type(value).__module__.startswith('optuna.')"),
        ("space/domain.py", "type(value).__name__ in ('bool', 'bool_')"),
        ("space/tree.py", "type(value).__module__.startswith('ray.tune.search')"),
        ("space/tree.py", "type(value).__name__ == 'function'"),
        ("tune/logger/wandb.py", "type(value).__module__.startswith('wandb')"),
        ("worker/session/leftover_threads.py", "type(thread).__module__ == 'tqdm._monitor'"),
    },
    "a part that the same package has made": {
        ("engines/ray/trial.py", "isinstance(job.store, Carried)"),
    },
}

LOOKUPS = [
    "getattr(engine, 'anything', None)",
    "hasattr(self._stopper, 'anything')",
    "hasattr(one, 'stop_all')",
    "isinstance(one, NoopStopper)",
    "isinstance(one, (str, stoppers.NoopStopper))",
    "type(one) is NoopStopper",
    "type(engine).__name__ != 'Inline'",
    "type(inner).__module__.startswith('overtone.searchers.')",
    "type(one).memory is Observer.memory",
]
NO_LOOKUPS = [
    "getattr(trainable, 'curve_of', None)",
    "isinstance(one, (Searcher, Stopper))",
    "f'{type(engine).__name__} raised'",
    "engine.capabilities.repeats",
]


@pytest.mark.parametrize("text", LOOKUPS)
def test_a_lookup_is_found(text):
    assert list(lookups(ast.parse(text), declared(), {"NoopStopper"}))


@pytest.mark.parametrize("text", NO_LOOKUPS)
def test_other_expressions_are_not_lookups(text):
    assert not list(lookups(ast.parse(text), declared(), {"NoopStopper"}))


def test_what_parts_can_do_is_declared():
    trees = {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in SOURCE.rglob("*.py")
    }
    names, classes = declared(), made_from_interfaces(trees.values())
    assert {"Inline", "ASHAScheduler", "CombinedStopper"} <= classes
    found = {(file, text) for file, tree in trees.items() for text in lookups(tree, names, classes)}
    allowed = set().union(*ALLOWED.values())
    new, gone = sorted(found - allowed), sorted(allowed - found)
    assert not new, f"declare it in the interface, such as in core/protocols.py, with a no-op default: {new}"
    assert not gone, f"no longer there, so no longer allowed: {gone}"


def declared():
    """The names of the public members of all interfaces."""
    names = set()
    for name, module in SEAMS.items():
        body = ast.parse((SOURCE / module).read_text("utf-8")).body
        (cls,) = (one for one in body if isinstance(one, ast.ClassDef) and one.name == name)
        for one in cls.body:
            if isinstance(one, ast.FunctionDef):
                names.add(one.name)
            elif isinstance(one, ast.AnnAssign):
                names.add(one.target.id)
    return {name for name in names if not name.startswith("_")}


def made_from_interfaces(trees):
    """The names of all classes that derive from an interface, directly or not."""
    bases = {
        node.name: {last_name(base) for base in node.bases}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = set(SEAMS)
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found - set(SEAMS)


def lookups(tree, names, classes):
    """Yield each lookup as text.

    Args:
        names: What the interfaces declare.
        classes: The classes that are made from an interface.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function, arguments = last_name(node.func), node.args
            if function in ("getattr", "hasattr"):
                part, name = arguments[:2]
                is_lookup = last_name(part) in PARTS or getattr(name, "value", None) in names
            elif function in ("isinstance", "issubclass"):
                is_lookup = bool(classes & {last_name(one) for one in ast.walk(arguments[1])})
            else:
                is_test = isinstance(node.func, ast.Attribute) and function in _TESTS
                is_lookup = is_test and is_name_of_class(node.func.value)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            is_lookup = any(is_name_of_class(side) for side in sides) or (
                isinstance(node.ops[0], (ast.Is, ast.IsNot))
                and any(last_name(side) in classes or is_method_of_interface(side) for side in sides)
            )
        else:
            continue
        if is_lookup:
            yield ast.unparse(node)


_TESTS = ("startswith", "endswith", "partition", "split")


def last_name(node):
    """The last name of `a.b._name` or of `type(name)`, without underscores."""
    if isinstance(node, ast.Call):
        return last_name(node.args[0]) if last_name(node.func) == "type" and node.args else ""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.lstrip("_")


def is_name_of_class(node):
    """Whether it is the name or the module of a `type(...)`."""
    is_name = isinstance(node, ast.Attribute) and node.attr in ("__name__", "__qualname__", "__module__")
    return is_name and isinstance(node.value, ast.Call)


def is_method_of_interface(node):
    return isinstance(node, ast.Attribute) and last_name(node.value) in SEAMS
