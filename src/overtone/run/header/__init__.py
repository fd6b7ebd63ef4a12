"""The first record of a journal: the description of the experiment."""
