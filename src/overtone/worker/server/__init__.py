"""The processes of trials: their start, the code that runs in them, and their end."""
