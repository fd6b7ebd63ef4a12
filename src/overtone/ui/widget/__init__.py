"""An experiment in a notebook, as a live widget (extra `notebook`)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from overtone.observers.display.notebook import is_notebook

if TYPE_CHECKING:
    from overtone.ui.widget.shown import Shown

_widgets: WeakValueDictionary[str, Shown] = WeakValueDictionary()
_lock = threading.Lock()


def can_show() -> bool:
    """Return whether widgets can be shown: this is a notebook's kernel, and the extra `notebook` is there."""
    return is_notebook() and find_spec("anywidget") is not None


def show(what: Any) -> None:
    """Show an experiment in the output of this cell.

    Args:
        what: An `ExperimentAnalysis`, a `ResultGrid` or a run; or the folder of an experiment.

    Raises:
        NotImplementedError: This is not a notebook, or the extra `notebook` is missing.
        StorageError: There is no experiment.
    """
    if isinstance(what, (str, os.PathLike)):
        from overtone.analysis import ExperimentAnalysis

        what = ExperimentAnalysis(what)
    folder = getattr(what, "folder", None) or what.experiment_path
    display_experiment(folder, what._repr_html_)


def display_value(
    folder: str | os.PathLike[str], summary: Callable[[], str], is_running: Callable[[], bool] = lambda: False
) -> Any:
    """Return what marimo displays for an experiment: the widget, or `summary` without the extra `notebook`.

    Args: See `display_experiment`.
    """
    if find_spec("anywidget") is None:
        return import_module("marimo").Html(summary())
    return _shown(folder, summary, is_running).widget


def display_experiment(
    folder: str | os.PathLike[str], summary: Callable[[], str], is_running: Callable[[], bool] = lambda: False
) -> None:
    """Show an experiment in the output of this cell.

    The widget lives until the run is over; then the output's still picture, which stays in the saved
    notebook, is renewed. A second display of an experiment shares the widget of the first.

    Args:
        folder: The experiment's folder.
        summary: Returns HTML about the experiment as it is now.
        is_running: Whether the run goes on though there is no journal yet.

    Raises:
        NotImplementedError: See `can_show`: IPython takes the next form of display.
    """
    if not can_show():
        raise NotImplementedError("needs a notebook, and the package anywidget")
    _shown(folder, summary, is_running).display()


def _shown(
    folder: str | os.PathLike[str], summary: Callable[[], str], is_running: Callable[[], bool]
) -> Shown:
    from overtone.ui.widget.shown import Shown

    place = os.path.abspath(folder)
    with _lock:
        shown = _widgets.get(place)
        if shown is None or not shown.is_live:
            shown = _widgets[place] = Shown(Path(place), summary, is_running)
    return shown
