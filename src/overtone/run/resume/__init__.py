"""Resume: finds an experiment, and restores all parts to the state in its journal."""
