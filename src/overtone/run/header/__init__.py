"""The first record of a journal: what an experiment was made of."""
