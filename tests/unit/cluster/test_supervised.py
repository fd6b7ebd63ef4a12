"""What cron runs at each start of the machine."""

from __future__ import annotations

from overtone.cluster.supervised import with_line


def test_a_table_gets_one_line() -> None:
    first = with_line("0 5 * * * tidy\n", "@reboot env A=1 python -m watch --resume", "-m watch ")
    assert first == "0 5 * * * tidy\n@reboot env A=1 python -m watch --resume\n"
    assert with_line(first, "@reboot env A=2 python -m watch --resume", "-m watch ") == (
        "0 5 * * * tidy\n@reboot env A=2 python -m watch --resume\n"
    )
    assert with_line("", "@reboot x", "y") == "@reboot x\n"
