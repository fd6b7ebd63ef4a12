"""Overtone's own providers: each has the facts and the functions of `overtone.cluster.provider.Provider`."""
