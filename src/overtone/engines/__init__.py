"""Where trials run: each engine turns commands into processes, calls or simulated time."""
