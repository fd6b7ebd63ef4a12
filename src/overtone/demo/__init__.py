"""`overtone demo`: a search that needs nothing but NumPy, to be looked at, killed and steered."""

SUPERVISOR = "OVERTONE_DEMO_SUPERVISOR"
"""Environment variable: the process that started the search and ends with it; unset if it runs alone."""
