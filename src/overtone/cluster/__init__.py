"""The cluster launcher: a config becomes steps (`plan`), and steps a cluster (`apply`)."""
