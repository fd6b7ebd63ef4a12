"""The way to a config's Kubernetes: by `kubectl` if there is one, else by the `kubernetes` package."""

from __future__ import annotations

import shutil
from pathlib import Path

from overtone.cluster.config import ClusterConfig
from overtone.cluster.kubernetes.client import Client
from overtone.cluster.kubernetes.kubectl import Kubectl
from overtone.cluster.kubernetes.transport import Transport


def transport_of(config: ClusterConfig) -> Transport:
    """Return the way to the config's Kubernetes: `kubectl` on the PATH, else the package `kubernetes`.

    Raises:
        MissingPackageError: There is neither.
        KubernetesError: The kubeconfig has no such context.
    """
    settings = config.provider.settings
    kubeconfig = settings.get("kubeconfig")
    path = str(Path(kubeconfig).expanduser()) if kubeconfig else None
    if program := shutil.which("kubectl"):
        return Kubectl(program, path, settings.get("context"))
    return Client(path, settings.get("context"))
