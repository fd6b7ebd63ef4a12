"""Conversion of objects with state to data, and of the data back into new objects.

Only what changes is data. Functions, methods and classes are not, nor are objects whose class
says `is_given`: they stay as they are in the new objects, which are created in the same way
before the state is put into them. Objects keep their identity: shared objects are shared again.

    value     null, true, 1, 0.5, "text"
    [3]       the fourth thing from the beginning, again
    [0, ...]  an object of class 0, with the values of its attributes
    ["v", 0]  an object of class 0 that has none
    ["l", ...] a list; likewise "t"uple, "s"et, "f"rozenset, "q"ueue (its longest length first)
    ["d", ...] a dict (key, value, ...); likewise "c"ounter, "o"rdered dict, defaultdict ("b")
    ["u", 1, ...] a named tuple of class 1
    ["e", 1, "RUNNING"] a member of the enumeration that is class 1
    ["n", "nan"] a float that JSON does not know
    ["j", ...] another value with a tag, such as a time (see `tagged_json`)
    ["k"]     not data: kept as it is
    ["-"]     an attribute that is not set
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from functools import lru_cache, partial
from itertools import chain
from math import isfinite
from operator import attrgetter
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from overtone.errors import OvertoneError
from overtone.journal.text import LazyMetrics
from overtone.tagged_json import is_tagged, tagged, untagged

_PLAIN = frozenset({str, int, bool, type(None)})
_KEPT = frozenset({FunctionType, BuiltinFunctionType, MethodType, ModuleType, partial, object})
_CONTAINERS: dict[str, type] = {"l": list, "t": tuple, "s": set, "f": frozenset, "q": deque}
_DICTS: dict[str, type] = {"d": dict, "c": Counter, "o": OrderedDict, "b": defaultdict}
_TAGS = {kind: tag for tag, kind in (_CONTAINERS | _DICTS).items()}


class _Missing:
    """The type of the marker for a missing object."""


_MISSING: Any = _Missing()
_NOT_SET = ["-"]
_KEEP = ["k"]
_OURS = tuple(f"overtone.{name}." for name in ("core", "observers", "run", "schedulers", "space", "stoppers"))


class NotData(Exception):
    """A state holds something that is neither data nor an object of plain Python."""


class NotTheSame(Exception):
    """The new objects differ from the objects of the state."""


def frozen(root: Any) -> dict[str, Any]:
    """Return the state of all objects reachable from `root`, as data for JSON.

    Raises:
        NotData: Something has a state that cannot be seen, as a lock has, or a NumPy array.
    """
    taking = _Taking()
    try:
        tree = taking.value(root)
    except RecursionError:
        raise NotData("it is nested too deeply") from None
    return {
        "classes": [[one.__module__, one.__qualname__, *names] for one, names in taking.places],
        "tree": tree,
    }


def thaw(data: Mapping[str, Any], root: Any, modules: Collection[str] = ()) -> None:
    """Put a state into `root` and all objects reachable from it: completely, or not at all.

    Args:
        root: A new object, created like the original of the state.
        modules: Modules whose classes may be created besides our own, such as a user's scheduler's.

    Raises:
        NotTheSame: `root` was created differently.
        OvertoneError: An object refused its attributes, and `root` cannot be used any more.
    """
    try:
        giving = _Giving(data, modules)
        if giving.value(data["tree"], root) is not root:
            raise NotTheSame("another root")
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise NotTheSame(f"{type(error).__name__}: {error}") from error
    try:
        for put in giving.puts:
            put()
    except Exception as error:  # now nothing is as it was
        raise OvertoneError(
            f"a snapshot could not be put back ({type(error).__name__}: {error}): delete snapshot.json from "
            "the experiment's folder and resume again, and its journal is replayed"
        ) from error


class _Taking:
    """Converts objects to data; the recipe of each class is computed once."""

    def __init__(self) -> None:
        self.places: dict[tuple[type, tuple[str, ...]], int] = {}
        self._seen: dict[int, int] = {}
        self._ways: dict[type, Callable[[Any], Any]] = {}

    def value(self, it: Any) -> Any:
        kind = type(it)
        if kind in _PLAIN or (kind is float and isfinite(it)):
            return it
        place = self._seen.get(id(it))
        if place is not None:
            return [place]
        way = self._ways.get(kind)
        if way is None:
            way = self._ways[kind] = self._way(kind)
        return way(it)

    def _way(self, kind: Any) -> Callable[[Any], Any]:
        if _keeps(kind):
            return lambda it: _KEEP
        if kind is float:
            return lambda it: ["n", repr(it)]
        if kind is _Missing:
            return lambda it: _NOT_SET
        if is_tagged(kind):
            return lambda it: ["j", tagged(it)]
        if issubclass(kind, Enum):
            place = self._place(kind, ())
            return lambda it: ["e", place, it.name]
        if kind is LazyMetrics:
            return lambda it: self._of_container(it, "d", chain.from_iterable(it.items()))
        if kind in _DICTS.values():
            return self._of_dict
        if kind in _TAGS:
            return lambda it: self._of_container(it, _TAGS[kind], it)
        if issubclass(kind, tuple):
            return lambda it: self._of_container(it, "u", it)
        names, is_open = _slots(kind)
        if is_open or len(names) < 2:
            return lambda it: self._of_object(it, (*names, *(it.__dict__ if is_open else ())))
        place, is_value, every = self._place(kind, names), _is_value(kind), attrgetter(*names)

        def of_slots(it: Any) -> Any:
            try:
                found = every(it)
            except AttributeError:
                return self._of_object(it, names)
            before = self._seen[id(it)] = len(self._seen)
            values = self._values(found)
            return self._kept_after(before) if is_value and _KEEP in values else [place, *values]

        return of_slots

    def _of_object(self, it: Any, names: tuple[str, ...]) -> Any:
        before = self._seen[id(it)] = len(self._seen)
        values = self._values([getattr(it, name, _MISSING) for name in names])
        if _KEEP in values and _is_value(type(it)):
            return self._kept_after(before)
        place = self._place(type(it), names)
        return [place, *values] if values else ["v", place]

    def _kept_after(self, before: int) -> Any:
        """Return the marker of a kept object and undo its numbering: nothing in it changes."""
        while len(self._seen) > before:
            self._seen.popitem()
        return _KEEP

    def _of_dict(self, it: Any) -> Any:
        if any(_keeps(type(key)) for key in it):
            if not all(_keeps(type(item)) for item in it.values()):
                raise NotData("a dict by functions or classes")
            return _KEEP
        return self._of_container(it, _TAGS[type(it)], chain.from_iterable(it.items()))

    def _of_container(self, it: Any, tag: str, items: Iterable[Any]) -> list[Any]:
        self._seen[id(it)] = len(self._seen)
        found: list[Any] = [tag]
        if tag == "q":
            found.append(it.maxlen)
        elif tag == "u":
            found.append(self._place(type(it), ()))
        found += self._values(items)
        return found

    def _values(self, items: Iterable[Any]) -> list[Any]:
        value, plain = self.value, _PLAIN  # most are plain, and there are millions
        return [one if type(one) in plain else value(one) for one in items]

    def _place(self, kind: type, names: tuple[str, ...]) -> int:
        return self.places.setdefault((kind, names), len(self.places))


class _Giving:
    """Creates new objects at once; existing ones are changed by `puts` after all checks."""

    def __init__(self, data: Mapping[str, Any], modules: Collection[str]) -> None:
        self.puts: list[Any] = []
        self._modules = modules
        self._classes = [self._class(*one) for one in data["classes"]]
        self._made: list[Any] = []
        self._used: set[int] = set()

    def value(self, data: Any, fresh: Any) -> Any:
        """Return the value that `data` stands for.

        Args:
            fresh: The object in its place now.
        """
        if type(data) is not list:
            return data
        tag = data[0]
        if type(tag) is int:
            return self._made[tag] if len(data) == 1 else self._object(data, fresh)
        if tag == "k":
            if fresh is _MISSING:
                raise NotTheSame("a function that is not there")
            return fresh
        if tag == "n":
            return float(data[1])
        if tag == "j":
            return untagged(data[1])
        if tag == "u":
            place = len(self._made)
            self._made.append(_MISSING)
            self._made[place] = made = tuple.__new__(
                self._classes[data[1]][0], [self.value(one, _MISSING) for one in data[2:]]
            )
            return made
        if tag == "v":
            return self._object(data[1:], fresh)
        if tag == "e":
            return self._classes[data[1]][0][data[2]]
        return self._dict(data, fresh) if tag in _DICTS else self._container(data, fresh)

    def _object(self, data: list[Any], fresh: Any) -> Any:
        kind, names, is_value = self._classes[data[0]]
        if len(data) != len(names) + 1:
            raise NotTheSame(f"{kind.__name__} has other attributes")
        is_there = not is_value and type(fresh) is kind and id(fresh) not in self._used
        target = fresh if is_there else kind.__new__(kind)
        self._made.append(target)
        self._used.add(id(target))
        value, put = self.value, object.__setattr__
        values = [
            (
                name,
                one
                if type(one) is not list
                else value(one, getattr(fresh, name, _MISSING) if is_there else _MISSING),
            )
            for name, one in zip(names, data[1:], strict=True)
            if one != _NOT_SET
        ]
        if is_there:
            self.puts.append(partial(_put_all, target, values))
        else:
            for name, one in values:
                put(target, name, one)
        return target

    def _dict(self, data: list[Any], fresh: Any) -> Any:
        kind = _DICTS[data[0]]
        is_there = type(fresh) is kind and id(fresh) not in self._used
        if kind is defaultdict and not is_there:
            raise NotTheSame("a defaultdict that the journal names, but whose default factory is unknown")
        target = fresh if is_there else kind()
        self._made.append(target)
        self._used.add(id(target))
        value, found = self.value, {}
        for i in range(1, len(data), 2):
            key, one = data[i], data[i + 1]
            if type(key) is list:
                key = value(key, _MISSING)
            found[key] = (
                one
                if type(one) is not list
                else value(one, fresh.get(key, _MISSING) if is_there else _MISSING)
            )
        if is_there:
            self.puts.append(partial(_refill, target, found))
        else:
            target.update(found)
        return target

    def _container(self, data: list[Any], fresh: Any) -> Any:
        kind: Any = _CONTAINERS[data[0]]
        more: dict[str, Any] = {}
        if kind is deque:
            more["maxlen"] = data.pop(1)
        is_ordered = kind in (list, tuple, deque)
        old: list[Any] = list(fresh) if is_ordered and type(fresh) is kind else []
        place = len(self._made)
        if kind is tuple or kind is frozenset:
            self._made.append(_MISSING)
            items = self._items(data, old)
            self._made[place] = target = kind(items)
            return target
        is_there = type(fresh) is kind and id(fresh) not in self._used
        target = fresh if is_there else kind(**more)
        self._made.append(target)
        self._used.add(id(target))
        items = self._items(data, old)
        if is_there:
            self.puts.append(partial(_refill, target, items))
        else:
            (target.update if kind is set else target.extend)(items)
        return target

    def _items(self, data: list[Any], old: list[Any]) -> list[Any]:
        value, n = self.value, len(old)
        return [
            one if type(one) is not list else value(one, old[i] if i < n else _MISSING)
            for i, one in enumerate(data[1:])
        ]

    def _class(self, module: str, name: str, *names: str) -> tuple[Any, tuple[str, ...], bool]:
        """Return a class named in a file, which must be one of this run."""
        kind: Any = sys.modules[module] if module in self._modules or module.startswith(_OURS) else None
        for part in name.split("."):
            kind = getattr(kind, part, None)
        if not isinstance(kind, type) or hasattr(kind, "__del__"):
            raise NotTheSame(f"{module}.{name} is not a class of this run")
        return kind, tuple(names), _is_value(kind)


def _put_all(target: Any, values: list[tuple[str, Any]]) -> None:
    for name, value in values:
        object.__setattr__(target, name, value)


def _refill(target: Any, items: Any) -> None:
    target.clear()
    (target.update if isinstance(target, (dict, set)) else target.extend)(items)


def _keeps(kind: Any) -> bool:
    """Return whether objects of this class are kept as they are, rather than stored as data."""
    return kind in _KEPT or issubclass(kind, type) or getattr(kind, "is_given", False)


def _is_value(kind: Any) -> bool:
    """Return whether objects of this class never change."""
    how = getattr(kind, "__dataclass_params__", None)
    return how is not None and (how.frozen or how.unsafe_hash)


@lru_cache(None)
def _slots(kind: Any) -> tuple[tuple[str, ...], bool]:
    """Return the slots of a class, and whether its objects may have other attributes."""
    names: list[str] = []
    for base in kind.__mro__[:-1]:
        file = getattr(sys.modules.get(base.__module__), "__file__", None) or ""
        if base.__module__ != "__main__" and not file.endswith(".py"):
            raise NotData(f"{kind.__module__}.{kind.__qualname__} may hold what cannot be seen")
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name == "__weakref__" or name == "__dict__":
                continue
            hidden = name.startswith("__") and not name.endswith("__")
            names.append(f"_{base.__name__.lstrip('_')}{name}" if hidden else name)
    return tuple(names), kind.__dictoffset__ != 0
