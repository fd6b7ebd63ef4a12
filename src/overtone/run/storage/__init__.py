"""An experiment's folder while it runs: its place, its mirror at a URL, and deletions in it."""
