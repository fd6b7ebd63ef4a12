"""Callbacks for training loops of other libraries, under the names of the 2.x API."""
