from __future__ import annotations

from functools import partial
from pathlib import Path

from overtone.core.protocols import Observer
from overtone.observers.files.text_files import TextFiles
from overtone.observers.files.trial_files import TrialFiles
from overtone.testing.observer_conformance import ObserverConformance, WithTable


class TestTextFiles(ObserverConformance):
    def make_observer(self, folder: Path) -> Observer:
        return WithTable(partial(TextFiles, TrialFiles(folder)))
