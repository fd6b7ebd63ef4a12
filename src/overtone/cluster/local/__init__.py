"""Clusters of hosts that are reached over SSH: `provider: {type: local, hosts: [...]}`."""
