"""The text files in the folder of each trial."""
