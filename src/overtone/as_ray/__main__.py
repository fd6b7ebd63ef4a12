"""`python -m overtone.as_ray script.py [arguments]` runs a script with Overtone in place of Ray Tune."""

from __future__ import annotations

from overtone.as_ray.command import main

if __name__ == "__main__":
    main()
