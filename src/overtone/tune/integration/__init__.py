"""Callbacks for training loops of other libraries, each imported where it is used."""
