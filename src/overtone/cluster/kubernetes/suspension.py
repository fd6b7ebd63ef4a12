"""Ends a cluster from within: the head asks KubeRay to delete all of the cluster's pods.

KubeRay gives a head with an autoscaler a service account that may change its own RayCluster; no other
permission is needed. The RayCluster itself stays, without pods, until `overtone down`.
"""

from __future__ import annotations

import json
import os
import ssl
import urllib.error
import urllib.request
from pathlib import Path

from overtone.cluster.kubernetes.manifests import CLUSTER_VARIABLE
from overtone.cluster.kubernetes.transport import KubernetesError

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""The folder in a pod with the token, the certificate and the namespace of its service account."""

_TIMEOUT_S = 30.0


def is_in_pod() -> bool:
    """Return whether this process runs in a pod of a cluster of ours."""
    return "KUBERNETES_SERVICE_HOST" in os.environ and CLUSTER_VARIABLE in os.environ


def suspend_cluster(name: str, account: Path = ACCOUNT) -> None:
    """Delete all pods of this pod's cluster, this one too.

    Args:
        name: The cluster's name. The RayCluster of a RayJob has another one, which the pod knows.
        account: The folder of the pod's service account.

    Raises:
        KubernetesError: Kubernetes does not answer, or refuses.
    """
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    certificate = account / "ca.crt"
    scheme, context = "http", None
    if certificate.exists():
        scheme, context = "https", ssl.create_default_context(cafile=str(certificate))
    host = f"[{host}]" if ":" in host else host
    namespace, own = (account / "namespace").read_text().strip(), os.environ[CLUSTER_VARIABLE]
    request = urllib.request.Request(
        f"{scheme}://{host}:{port}/apis/ray.io/v1/namespaces/{namespace}/rayclusters/{own}",
        data=json.dumps({"spec": {"suspend": True}}).encode(),
        method="PATCH",
        headers={
            "Authorization": f"Bearer {(account / 'token').read_text().strip()}",
            "Content-Type": "application/merge-patch+json",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=context):
            pass
    except urllib.error.HTTPError as error:
        said = error.read().decode(errors="replace")[:500]
        raise KubernetesError(f"RayCluster {own} cannot be suspended: {error.code} {said}") from None
    except OSError as error:
        raise KubernetesError(f"RayCluster {own} cannot be suspended: {error}", "Unreachable") from None
