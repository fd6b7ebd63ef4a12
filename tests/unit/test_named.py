"""Schedulers and searchers by name."""

import re
import sys

import pytest

from overtone import tune
from overtone.schedulers.fifo import FIFOScheduler


def test_a_scheduler_is_made_by_its_name():
    assert type(tune.create_scheduler("fifo")) is FIFOScheduler


def test_arguments_are_handed_on():
    asha = tune.create_scheduler("async_hyperband", metric="acc", mode="max", max_t=9)
    assert (asha.metric, asha.mode) == ("acc", "max")


def test_an_unknown_name_is_answered_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"'ahsa'; did you mean 'asha'.*'fifo'"):
        tune.create_scheduler("ahsa")
    with pytest.raises(ValueError, match="no searcher 'magic'"):
        tune.create_searcher("magic")


@pytest.mark.parametrize("name", ["random", "sobol", "Variant_Generator", "auto"])
def test_every_searcher_may_be_given_the_goal(name):
    searcher = tune.create_searcher(name, metric="loss", mode="min")
    assert searcher.metric in (None, "loss")
    with pytest.raises(TypeError, match="metrik"):
        tune.create_searcher(name, metrik="loss")


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Return a function that installs a package which offers algorithms."""

    def install(package, group, lines, code=""):
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{lines}\n")
        (tmp_path / f"{package}.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, package, raising=False)

    return install


MINE = """
from overtone.tune.schedulers import FIFOScheduler
from overtone.tune.search import Searcher

class Mine(FIFOScheduler):
    def __init__(self, size=1):
        self.size = size

class Random(Searcher):
    def suggest(self, index):
        return {"x": index}
"""


def test_a_package_offers_a_scheduler(offer):
    offer("offers_one", "overtone.schedulers", "Mine_1 = offers_one:Mine", MINE)
    made = tune.create_scheduler("mine_1", size=3)
    assert (type(made).__name__, made.size) == ("Mine", 3)
    with pytest.raises(ValueError, match=r"'min_1'; did you mean 'mine_1'.*'fifo'.*'mine_1'"):
        tune.create_scheduler("min_1")


def test_a_package_offers_a_searcher(offer):
    offer("offers_two", "overtone.searchers", "counting = offers_two:Random", MINE)
    assert type(tune.create_searcher("counting")).__name__ == "Random"


def test_names_of_overtone_stay(offer):
    offer("offers_three", "overtone.schedulers", "asha = offers_three:Mine", MINE)
    assert type(tune.create_scheduler("asha")).__name__ == "ASHAScheduler"


def test_two_packages_with_one_name_are_named(offer):
    offer("offers_four", "overtone.schedulers", "same = offers_four:Mine", MINE)
    offer("offers_five", "overtone.schedulers", "same = offers_five:Mine", MINE)
    with pytest.raises(ValueError, match="offers_five and offers_four both offer a scheduler 'same'"):
        tune.create_scheduler("same")


def test_a_package_that_cannot_be_imported_is_named(offer):
    offer("offers_six", "overtone.schedulers", "broken = offers_six:Mine", "import nowhere_at_all")
    with pytest.raises(ImportError, match=r"'broken' of offers_six \(offers_six:Mine\).*nowhere_at_all"):
        tune.create_scheduler("broken")
    offer("offers_seven", "overtone.schedulers", "lacking = offers_seven:Other", MINE)
    with pytest.raises(ImportError, match=r"AttributeError"):
        tune.create_scheduler("lacking")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("tpe", "'optuna', which uses TPE"), ("tpee", "'optuna', which uses TPE"), ("gird", "'random', which takes"),
     ("optna", "'optuna'?"), ("sobl", "'sobol'?")],
)  # fmt: skip
def test_methods_are_answered_with_the_searcher_that_has_them(name, meant):
    with pytest.raises(ValueError, match=f"there is no searcher '{name}'; did you mean {re.escape(meant)}"):
        tune.create_searcher(name)


def test_what_is_like_nothing_is_answered_with_all():
    with pytest.raises(ValueError, match=r"no searcher 'zzzzzz' \(known: 'auto'"):
        tune.create_searcher("zzzzzz")
