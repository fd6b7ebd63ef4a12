"""A widget and its outputs in a notebook."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from overtone.errors import OvertoneError
from overtone.store.folder_mark import JOURNAL
from overtone.ui.data.experiment import Experiment
from overtone.ui.widget.model import ExperimentWidget
from overtone.ui.widget.still import still


class Shown:
    """One experiment in the outputs of a notebook.

    Args:
        folder: The experiment's folder.
        summary: Returns HTML about the experiment as it is now.
        is_running: Whether the run goes on though there is no journal yet.
    """

    def __init__(self, folder: Path, summary: Callable[[], str], is_running: Callable[[], bool]) -> None:
        self._summary = summary
        self._displays: list[str] = []
        self._experiment = Experiment(folder.name, lambda: folder / JOURNAL)
        self.widget = ExperimentWidget(self._experiment, self._renew, is_running)
        self.widget.shown = self  # lives as long as the widget, which ipywidgets keep
        self.widget.pushing.start()

    @property
    def is_live(self) -> bool:
        """Whether the widget still gets updates."""
        return self.widget.comm is not None and self.widget.pushing.is_alive

    def display(self) -> None:
        """Show the widget in the output of this cell, and put the still picture below it.

        They are two displays, because JupyterLab shows an error instead of a widget whose kernel has gone,
        and no other form of the same display. While the widget is there, it hides the picture.
        """
        from IPython.display import display

        view = self.widget._repr_mimebundle_()
        data: Any = view[0] if isinstance(view, tuple) else view
        display({**data, "text/html": ""}, raw=True)  # type: ignore[no-untyped-call]
        name = uuid.uuid4().hex
        display(self._bundle(), raw=True, display_id=name)  # type: ignore[no-untyped-call]
        self._displays.append(name)

    def _renew(self) -> None:
        """Renew the still pictures of all outputs."""
        from IPython.display import update_display

        for name in self._displays:
            update_display(self._bundle(), raw=True, display_id=name)  # type: ignore[no-untyped-call]

    def _bundle(self) -> dict[str, str]:
        still = f'<div data-overtone-still="{self.widget.still}">{self._still()}</div>'
        return {"text/html": still, "text/plain": self._experiment.name}

    def _still(self) -> str:
        try:
            columns = self._experiment.followed.columns()
        except OvertoneError:
            columns = None
        return still(self._summary(), columns)
