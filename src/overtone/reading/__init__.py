"""Reading of an experiment's journal: its trials and results, the story of a trial, and a summary."""
