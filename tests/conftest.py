"""What all tests need."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell that runs the tests in the background has them ignore Ctrl-C, and what they start with them
    signal.signal(signal.SIGINT, signal.default_int_handler)
