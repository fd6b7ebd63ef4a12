"""The commands of `overtone`, one a module."""
