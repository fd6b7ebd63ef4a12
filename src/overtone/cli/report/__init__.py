"""The report of experiments: one HTML file that needs nothing else."""
