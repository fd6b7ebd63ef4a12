"""The reference: one page for each public module, made of docstrings.

The names are those of `tests/packaging/public_api.txt`, the snapshot of the public API. An object that has
several public names is described under one of them, and the page lists the others. What a class replaces in
Ray Tune comes from `tests/packaging/ray_surface.txt`, the recorded names of Ray Tune.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from docstrings import rst
from sphinx.application import Sphinx
from sphinx.domains.python import ObjectEntry
from sphinx.environment import BuildEnvironment
from sphinx.ext.autodoc.mock import mock

DOCS = Path(__file__).parents[1]
PACKAGING = DOCS.parent / "tests" / "packaging"
sys.path.insert(0, str(PACKAGING))

from ray_surface import recorded  # noqa: E402

MODULES = {
    "overtone.tune": "Searches, spaces, trainables, results",
    "overtone.tune.schedulers": "Schedulers and their decisions",
    "overtone.tune.search": "Searchers",
    "overtone.tune.stopper": "Stoppers",
    "overtone.tune.plots": "Plots",
    "overtone.tune.callback": "Callbacks",
    "overtone.tune.logger": "Loggers",
    "overtone.tune.sample": "Classes of domains",
    "overtone.tune.trainable": "The class API of trainables",
    "overtone.tune.error": "Errors",
    "overtone.tune.integration": "Callbacks for frameworks",
    "overtone.tune.experiment": "Experiments as data",
    "overtone.tune.utils": "Small functions for scripts",
    "overtone.tune.search.variant_generator": "Configurations of a space",
    "overtone.tune.track": "An earlier name of tune.report",
    "overtone.train": "Distributed training",
    "overtone.train.torch": "PyTorch in several processes",
    "overtone.train.lightgbm": "LightGBM in several processes",
    "overtone.train.tensorflow": "TensorFlow in several processes",
    "overtone.train.xgboost": "XGBoost in several processes",
    "overtone.sklearn": "Searches with scikit-learn's contract",
    "overtone.research": "Comparisons of schedulers",
    "overtone": "Resources, shared objects, packs",
    "overtone.air": "Names of the 2.0 API",
    "overtone.air.session": "Calls of the 2.0 API",
}
"""The modules that objects are described under, the first that has one; all others come after them."""

WITHOUT_DOCSTRING = {
    "overtone.tune.checkpoint": "The checkpoint from which the trial of this process continues. "
    "The name exists only while a trial runs.",
    "overtone.tune.params": "The configuration of the trial of this process. "
    "The name exists only while a trial runs.",
    "overtone.tune.TrainingResult": "The return value of a step in the first versions of the API, a dict: "
    "`TrainingResult(mean_accuracy=0.9)`.",
    "overtone.air.DataBatchType": "The type of a batch of data, for annotations: "
    "an array, a table, a data frame, or arrays by column.",
}
"""The texts of names that exist only while a trial runs, and of types of other packages."""

COUNTERPARTS = {
    "overtone.sklearn.TuneSearchCV": "`tune_sklearn.TuneSearchCV`",
    "overtone.sklearn.TuneGridSearchCV": "`tune_sklearn.TuneGridSearchCV`",
    "overtone.tune.Study": "no name of Ray Tune; Optuna's `Study`",
    "overtone.tune.AskedTrial": "no name of Ray Tune; Optuna's `Trial`, as `study.ask()` returns it",
}
"""What classes replace that `ray_surface.txt` does not name."""


SAME_PATH = (
    "overtone.exceptions.",
    "overtone.train.",
    "overtone.tune.TrainingResult",
    "overtone.tune.logger.",
    "overtone.tune.search.skopt.",
    "overtone.tune.sync_client.",
)
"""Classes that are in Ray under the same path, in modules or versions that `ray_surface.txt` leaves out."""

FRAMEWORKS = [
    "keras",
    "lightgbm",
    "lightning",
    "pytorch_lightning",
    "tensorflow",
    "torch",
    "transformers",
    "xgboost",
]
"""Packages that public modules import, and that need not be there for their docstrings."""


@cache
def _of_ray() -> dict[str, str]:
    """Return the home of each recorded name of Ray Tune."""
    return {each.path: each.home or each.path for each in recorded()}


@dataclass
class Entry:
    """An object of the public API.

    Attributes:
        name: The public name under which it is described.
        value: The object; None for a name of `WITHOUT_DOCSTRING`.
        others: Its other public names.
    """

    name: str
    value: Any
    others: list[str] = field(default_factory=list)

    @property
    def module(self) -> str:
        """The module of its name."""
        return self.name.rpartition(".")[0]

    @property
    def replaces(self) -> str:
        """What it replaces in Ray Tune, as a sentence; "" for a function without a counterpart."""
        if text := COUNTERPARTS.get(self.name):
            return f"**Replaces:** {text}."
        names = [name.removeprefix("overtone.") for name in (self.name, *self.others)]
        if found := next((_of_ray()[name] for name in names if name in _of_ray()), None):
            return f"**Replaces:** `ray.{found}`."
        if isinstance(self.value, type) and self.name.startswith(SAME_PATH):
            return f"**Replaces:** `ray.{names[0]}`."
        return "**Replaces:** no name of Ray Tune." if isinstance(self.value, type) else ""


def public_names() -> list[str]:
    """Return the names of the snapshot."""
    return (PACKAGING / "public_api.txt").read_text("utf-8").split()


@cache
def public() -> tuple[dict[str, Entry], dict[str, ModuleType]]:
    """Return the objects by the name under which each is described, and the modules."""
    with mock(FRAMEWORKS):
        modules, values = _imported()
    entries: dict[Any, Entry] = {}
    for name in sorted(values, key=_rank):
        value = values[name]
        key = id(value) if callable(value) else (name.rpartition(".")[2], repr(value))
        if key in entries:
            entries[key].others.append(name)
        else:
            entries[key] = Entry(name, value)
    return {entry.name: entry for entry in entries.values()}, modules


def _imported() -> tuple[dict[str, ModuleType], dict[str, Any]]:
    """Return the public modules and the other public objects by their names."""
    modules: dict[str, ModuleType] = {}
    values: dict[str, Any] = {}
    for name in public_names():
        if name in WITHOUT_DOCSTRING:
            values[name] = None
            continue
        module, _, attribute = name.rpartition(".")
        value = getattr(importlib.import_module(module), attribute)
        (modules if inspect.ismodule(value) else values)[name] = value
    for name in MODULES:
        modules.setdefault(name, importlib.import_module(name))
    for name, module in modules.items():  # modules whose names the snapshot does not list
        own = () if name == "overtone.cloudpickle" else getattr(module, "__all__", ())
        if name == "overtone.tune.plots":
            own = [each for each in vars(module) if getattr(module, each).__class__.__name__ == "function"]
            own = [each for each in own if each[0] != "_" and getattr(module, each).__module__ == name]
        for each in own:
            values.setdefault(f"{name}.{each}", getattr(module, each))
    return modules, values


def _rank(name: str) -> tuple[int, int, str]:
    module = name.rpartition(".")[0]
    known = list(MODULES)
    order = known.index(module) if module in known else len(known) + (".suggest" in module)
    return order, name.count("."), name


def pages() -> dict[str, str]:
    """Return the text of each page of the reference by its name."""
    entries, modules = public()
    by_module: dict[str, list[Entry]] = {}
    for entry in entries.values():
        by_module.setdefault(entry.module, []).append(entry)
    owned = sorted(by_module, key=lambda module: _rank(f"{module}.x"))
    texts = {module: "\n".join(_module_page(module, by_module[module])) for module in owned}
    rest = sorted(modules.keys() - set(owned))
    texts["modules"] = "\n".join(_other_modules(rest, modules))
    texts["index"] = "\n".join(_index(owned))
    return texts


def _index(owned: list[str]) -> Iterator[str]:
    yield from _title("API")
    yield "Every public name, from its docstring. A name with several import paths is described once."
    yield ""
    yield from (".. list-table::", "   :header-rows: 1", "", "   * - module", "     - subject")
    for module in owned:
        yield f"   * - :doc:`{module} <{module}>`"
        yield f"     - {_subject(module)}"
    yield from ("   * - :doc:`modules`", "     - import paths that scripts for Ray Tune use", "")
    yield from (".. toctree::", "   :hidden:", "", *(f"   {name}" for name in [*owned, "modules"]))


def _subject(module: str) -> str:
    return MODULES.get(module) or (inspect.getdoc(importlib.import_module(module)) or "").split("\n")[0]


def _module_page(module: str, entries: list[Entry]) -> Iterator[str]:
    yield from _title(module)
    yield from (f".. py:module:: {module}", "", _subject(module).rstrip(".") + ".", "")
    yield from (".. list-table::", "   :widths: 40 60", "")
    for entry in entries:
        yield f"   * - :py:obj:`~{entry.name}`"
        yield f"     - {_summary(entry)}"
    yield ""
    for entry in entries:
        yield from _described(entry)


def _summary(entry: Entry) -> str:
    if entry.value is None:
        return rst(WITHOUT_DOCSTRING[entry.name].partition(". ")[0].rstrip(".") + ".")
    if not callable(entry.value):
        return f"``{repr(entry.value)[:100]}``"
    text = (inspect.getdoc(entry.value) or "").partition("\n\n")[0].replace("\n", " ")
    return rst(text.partition(". ")[0].rstrip(".:") + ".") if text else ""


def _described(entry: Entry) -> Iterator[str]:
    kind = (
        "class" if isinstance(entry.value, type) else "function" if inspect.isroutine(entry.value) else "data"
    )
    if entry.value is None:
        yield from (
            f".. py:data:: {entry.name.rpartition('.')[2]}",
            "",
            f"   {rst(WITHOUT_DOCSTRING[entry.name])}",
            "",
        )
    else:
        yield f".. auto{kind}:: {entry.name}"
        yield from (
            ("   :no-value:", "") if kind == "data" else ("   :members:", "") if kind == "class" else ("",)
        )
    if kind == "data" and entry.value is not None:
        yield from (f"   Value: ``{repr(entry.value)[:300]}``", "")
    if entry.replaces:
        yield from (f"   {entry.replaces}", "")
    if entry.others:
        yield from (f"   **Also:** {', '.join(f'`{name}`' for name in entry.others)}.", "")


def _other_modules(names: list[str], modules: dict[str, ModuleType]) -> Iterator[str]:
    yield from _title("Import paths")
    yield "Scripts for Ray Tune import from these modules. Their names are described on the other pages."
    yield ""
    for name in names:
        summary = (inspect.getdoc(modules[name]) or "").partition("\n\n")[0].replace("\n", " ")
        yield from (f".. py:module:: {name}", "", f"``{name}``", f"   {rst(summary)}", "")


def _title(text: str) -> tuple[str, str, str]:
    return text, "=" * len(text), ""


def write(app: Sphinx) -> None:
    """Write the pages that have changed."""
    folder = DOCS / "api"
    folder.mkdir(exist_ok=True)
    texts = pages()
    for path in folder.glob("*.rst"):
        if path.stem not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / f"{name}.rst"
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def add_aliases(app: Sphinx, env: BuildEnvironment) -> None:
    """Let each other name of an object lead to its description."""
    objects = env.domains.python_domain.objects
    for entry in public()[0].values():
        if at := objects.get(entry.name):
            for name in entry.others:
                objects[name] = ObjectEntry(at.docname, at.node_id, at.objtype, aliased=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("builder-inited", write)
    app.connect("env-updated", add_aliases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
