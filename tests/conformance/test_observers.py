from __future__ import annotations

from pathlib import Path

import pytest

from overtone.core.protocols import Observer
from overtone.observers.files.csv_rows import CsvRows
from overtone.observers.files.error_file import ErrorFile
from overtone.observers.files.json_lines import JsonLines
from overtone.observers.files.params import Params
from overtone.observers.files.trial_files import TrialFiles
from overtone.observers.tensorboard.scalars import TensorBoard, is_available
from overtone.testing.observer_conformance import ObserverConformance


class TestJsonLines(ObserverConformance):
    def make_observer(self, folder: Path) -> Observer:
        return JsonLines(TrialFiles(folder))


class TestCsvRows(ObserverConformance):
    def make_observer(self, folder: Path) -> Observer:
        return CsvRows(TrialFiles(folder))


class TestParams(ObserverConformance):
    def make_observer(self, folder: Path) -> Observer:
        return Params(TrialFiles(folder))


class TestErrorFile(ObserverConformance):
    def make_observer(self, folder: Path) -> Observer:
        return ErrorFile(TrialFiles(folder))


@pytest.mark.skipif(not is_available(), reason="tensorboardX is not installed")
class TestTensorBoard(ObserverConformance):
    def make_observer(self, folder: Path) -> Observer:
        return TensorBoard(folder)
