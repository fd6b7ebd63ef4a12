"""Every public name of Ray Tune is had or has a reason, and the page about it says so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import tomllib

sys.path.insert(0, str(Path(__file__).parent))

import ray_table
from ray_surface import SURFACE

ROOT = Path(__file__).parents[2]
LEAST = {
    "names that Overtone has": 0.96,
    "names with a behaviour test that passes": 0.94,
    "arguments that Overtone takes": 0.95,
    "arguments with a behaviour test that passes": 0.94,
}
"""The least shares of the names for users."""


@pytest.fixture(scope="module")
def comparison():
    return ray_table.Comparison()


@pytest.fixture(scope="module")
def missing():
    return ray_table.reasons("missing")


def test_every_name_is_had_or_has_a_reason(comparison, missing):
    # a reason goes into ray_names.toml: why Overtone lacks the name, and what to use instead
    without = [name for name in comparison.missing if not any(reason.matches(name) for reason in missing)]
    assert without == []


def test_no_reason_is_about_a_name_that_overtone_has(comparison, missing):
    patterns = [pattern for reason in missing for pattern in reason.patterns]
    lacking = comparison.missing
    assert [
        pattern for pattern in patterns if not any(map(ray_table.Reason((pattern,), "").matches, lacking))
    ] == []


def test_every_difference_is_about_a_name_that_overtone_has(comparison):
    had = [name for name, is_had in {**comparison.has, **comparison.arguments}.items() if is_had]
    patterns = [pattern for reason in ray_table.reasons("differs") for pattern in reason.patterns]
    assert [
        pattern for pattern in patterns if not any(map(ray_table.Reason((pattern,), "").matches, had))
    ] == []


def test_the_page_has_todays_table(comparison):
    # python tests/packaging/ray_table.py writes it
    page = ray_table.PAGE.read_text("utf-8")
    assert ray_table.rewritten(page, comparison) == page


def test_behaviour_tests_cover_names_that_ray_has(comparison):
    known = comparison.has.keys() | comparison.arguments.keys()
    assert [
        (test, name) for test, what in ray_table.behaviour_tests() for name in what if name not in known
    ] == []


def test_every_behaviour_test_ran_with_ray():
    # make conformance-ray records the outcomes
    ran = {name.split("[")[0] for name in ray_table.outcomes()}
    assert {test for test, _ in ray_table.behaviour_tests()} == ran


def test_differences_are_about_tests_that_pass_with_ray():
    outcomes = ray_table.outcomes()
    assert [name for name in ray_table.differences() if outcomes.get(name) != "passed"] == []


def test_the_names_are_those_of_the_version_that_is_tested():
    stated = (ROOT / "constraints.txt").read_text("utf-8")
    version = SURFACE.read_text("utf-8").split(":")[0].rpartition(" ")[2]
    assert f"ray=={version.rpartition('.')[0]}.*" in stated


@pytest.mark.parametrize("what", LEAST)
def test_the_shares_do_not_fall(comparison, what):
    count, total = ray_table.figures(comparison, for_users=True)[what]
    assert count >= LEAST[what] * total


def test_the_reasons_are_read():
    assert set(tomllib.loads(ray_table.REASONS.read_text("utf-8"))) == {"missing", "differs"}
