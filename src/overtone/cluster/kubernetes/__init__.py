"""Clusters on Kubernetes: what KubeRay is asked for, and the ways to ask."""
