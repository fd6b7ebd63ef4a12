"""Stores for checkpoints and artifacts."""
