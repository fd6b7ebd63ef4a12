"""The widget of an experiment: a model whose state the kernel sends, and the page's modules that show it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anywidget
import traitlets

from overtone.errors import OvertoneError
from overtone.ui.data.experiment import Experiment
from overtone.ui.data.plain_json import plain
from overtone.ui.widget.live_state import LiveState
from overtone.ui.widget.module import module
from overtone.ui.widget.pushing import Pushing

_QUESTIONS = frozenset({"rows", "trial", "curves", "log", "plot", "decisions", "machines"})
"""Methods of `Experiment` that the page may call."""


class ExperimentWidget(anywidget.AnyWidget):
    """An experiment in a notebook, live while its run lasts.

    All that is live are traits, so that a display that is opened later has them too. The page's questions
    come as messages, {"id", "ask", "args", "options"}, and are answered with {"id", "answer"} or {"id",
    "error"}; binary answers follow as a buffer. `still` is the name of the still pictures that the displays
    of the widget hide.

    Args:
        experiment: Is read, and closed with the widget.
        at_end: Is called once the run is over, in a thread.
        is_running: Whether the run goes on though there is no journal yet.
    """

    _esm = traitlets.Unicode("").tag(sync=True)
    name = traitlets.Unicode("").tag(sync=True)
    still = traitlets.Unicode("").tag(sync=True)
    whole = traitlets.Bytes(b"").tag(sync=True)
    update = traitlets.Bytes(b"").tag(sync=True)
    overview = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self, experiment: Experiment, at_end: Callable[[], None], is_running: Callable[[], bool]
    ) -> None:
        self._experiment = experiment
        self._answering = ThreadPoolExecutor(1, "overtone-widget")
        self.pushing = Pushing(experiment, self._show, at_end, is_running)
        self.shown: Any = None
        super().__init__(_esm=module(), name=experiment.name, still=uuid.uuid4().hex)
        self.on_msg(self._ask)

    def close(self) -> None:
        """Close the widget: its displays show what they have, and no thread is left."""
        super().close()
        self.pushing.stop()
        self._answering.shutdown(wait=False, cancel_futures=True)
        self._experiment.close()

    def _show(self, state: LiveState) -> None:
        with self.hold_sync():  # one message
            self.whole, self.update, self.overview = state.whole, state.update, state.overview

    def _ask(self, _widget: Any, content: Any, _buffers: Any) -> None:
        self._answering.submit(self._answer, content)

    def _answer(self, content: Any) -> None:
        answer: dict[str, Any] = {"id": content.get("id")}
        buffers = []
        try:
            name = content["ask"]
            if name not in _QUESTIONS:
                raise ValueError(f"{name!r} is not a question")
            given = getattr(self._experiment, name)(*content["args"], **content["options"])
            if isinstance(given, bytes):
                buffers.append(given)
            else:
                answer["answer"] = json.loads(json.dumps(plain(given)))
        except (OvertoneError, LookupError, ValueError, TypeError, OSError) as error:
            answer["error"] = str(error)
        self.send(answer, buffers=buffers)
