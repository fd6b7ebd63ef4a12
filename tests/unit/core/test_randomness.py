"""Draws depend on what they are for, and on nothing else."""

from overtone.core.randomness import key, keyed


def test_the_same_key_gives_the_same_draws_for_ever():
    assert key(1, "purpose", "trial", 3) == 13257112378204621285
    assert keyed(1, "purpose", "trial", 3).random() == keyed(1, "purpose", "trial", 3).random()


def test_every_part_counts():
    keys = [
        key(1, "a"), key(2, "a"), key(1, "b"), key(1, "a", "t"), key(1, "a", "", 1), key(1, "a", "", 1.5)
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)


def test_parts_do_not_run_together():
    assert key(1, "ab", "c") != key(1, "a", "bc")
    assert key(11, "a") != key(1, "1a")
