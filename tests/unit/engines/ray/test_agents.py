"""What is told of actors that could not work."""

from __future__ import annotations

from overtone.engines.ray import agents


class RuntimeEnvSetupError(Exception):
    """As Ray's."""


def test_the_line_that_says_why_is_told_with_the_first_one() -> None:
    error = RuntimeEnvSetupError(
        "Failed to set up runtime environment.\n[Node 10.0.0.2] Traceback (most recent call last):\n"
        "  ERROR: Could not find a version of no-such\n  ERROR: No matching distribution found for no-such\n[end]"
    )
    assert agents._told(error) == (
        "RuntimeEnvSetupError: Failed to set up runtime environment. (ERROR: No matching distribution found "
        "for no-such)"
    )


def test_a_node_without_overtone_is_hopeless_and_another_error_is_not() -> None:
    lacks = RuntimeError("The actor died\nModuleNotFoundError: No module named 'overtone'\n")
    told = agents._told(lacks)
    assert told == 'Overtone is not installed there (pip install "overtone[ray]" on every machine)'
    assert agents.is_hopeless(told)
    other = agents._told(RuntimeError("The actor died\nModuleNotFoundError: No module named 'overtones'\n"))
    assert other == "RuntimeError: The actor died (ModuleNotFoundError: No module named 'overtones')"
    assert not agents.is_hopeless(other)


def test_an_error_without_words() -> None:
    assert agents._told(RuntimeError()) == "RuntimeError: it says no more"
