"""Clusters that are jobs of Slurm: the batch script, its programs on the nodes, and Slurm's commands."""
