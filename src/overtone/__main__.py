"""`python -m overtone` is the command line, as `overtone` is."""

from __future__ import annotations

import sys

from overtone.cli import main

if __name__ == "__main__":
    sys.exit(main())
