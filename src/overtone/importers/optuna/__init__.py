"""Studies of Optuna: read from its storages, and written to a SQLite file."""
