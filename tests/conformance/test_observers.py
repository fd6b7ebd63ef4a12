from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from overtone.core.protocols import Observer
from overtone.observers.files.text_files import TextFiles
from overtone.observers.files.trial_files import TrialFiles
from overtone.observers.tensorboard.scalars import TensorBoard, is_available
from overtone.testing.observer_conformance import ObserverConformance, WithTable


class TestTextFiles(ObserverConformance):
    def make_observer(self, folder: Path) -> Observer:
        return WithTable(partial(TextFiles, TrialFiles(folder)))


@pytest.mark.skipif(not is_available(), reason="tensorboardX is not installed")
class TestTensorBoard(ObserverConformance):
    def make_observer(self, folder: Path) -> Observer:
        return WithTable(partial(TensorBoard, folder))
