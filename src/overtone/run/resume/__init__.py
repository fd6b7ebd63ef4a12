"""Finds an experiment again, and brings all parts to the state that its journal tells."""
