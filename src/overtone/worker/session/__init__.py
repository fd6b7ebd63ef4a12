"""The session of a trial: what training code calls, and what it learns of its trial."""
