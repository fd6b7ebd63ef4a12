"""The objects of a cluster: found by label, made or changed, and deleted by their uid."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from overtone.cluster.kubernetes.transport import PASSING, KubernetesError, Transport
from overtone.cluster.resource import TAG

Object = dict[str, Any]

PATHS: Mapping[str, tuple[str, str]] = {
    "RayJob": ("/apis/ray.io/v1", "rayjobs"),
    "RayCluster": ("/apis/ray.io/v1", "rayclusters"),
    "Pod": ("/api/v1", "pods"),
    "Service": ("/api/v1", "services"),
    "Secret": ("/api/v1", "secrets"),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims"),
    "Event": ("/api/v1", "events"),
}
"""The path of the API and the plural of each kind."""

HASH = "overtone/manifest"
"""The annotation with the hash of the manifest from which an object was made."""

ATTEMPTS = 6
_LEAVING_S = 120
INSTALL = (
    "KubeRay is not installed there: helm repo add kuberay https://ray-project.github.io/kuberay-helm/ && "
    "helm install kuberay-operator kuberay/kuberay-operator (1.6 or newer)"
)


class Objects:
    """The objects of one namespace.

    Args:
        transport: The way to the API.
        namespace: The namespace.
        sleep: Waits so many seconds between two attempts.
    """

    def __init__(
        self, transport: Transport, namespace: str, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.transport, self.namespace, self.sleep = transport, namespace, sleep

    def select(self, kind: str, selector: str = "", fields: str = "") -> list[Object]:
        """Return the objects of a kind.

        Args:
            selector: Labels, such as "overtone-cluster=digits".
            fields: A field selector, such as "involvedObject.name=digits-head".
        """
        query = {"labelSelector": selector, "fieldSelector": fields}
        asked = urlencode({key: value for key, value in query.items() if value})
        answer = json.loads(self._request("GET", f"{self._path(kind)}?{asked}", kind=kind))
        return [{**one, "kind": kind} for one in answer.get("items") or []]

    def get(self, kind: str, name: str) -> Object | None:
        """Return an object; None if there is none of this name."""
        try:
            answer: Object = json.loads(self._request("GET", self._path(kind, name), kind=kind))
        except KubernetesError as error:
            if error.reason == "NotFound":
                return None
            raise
        return answer

    def ensure(self, manifest: Mapping[str, Any]) -> Object:
        """Make an object, or change it to what the manifest says; nothing happens if it is that already.

        Raises:
            KubernetesError: The request fails, or the object is not one of this cluster's.
        """
        wanted = _with_hash(manifest)
        kind, name = wanted["kind"], wanted["metadata"]["name"]
        for _ in range(ATTEMPTS):
            live = self._staying(kind, name)
            try:
                if live is None:
                    return self._send("POST", self._path(kind), wanted)
                _check_ours(live, wanted, self.namespace)
                if _is_same(live, wanted):
                    return live
                return self._send("PUT", self._path(kind, name), _changed(live, wanted))
            except KubernetesError as error:
                # Somebody made or changed it in between, or the answer to our own request was lost.
                if error.reason not in ("AlreadyExists", "Conflict"):
                    raise
                self.sleep(0.2)
        raise KubernetesError(
            f"{kind} {name}: was changed by others at each of {ATTEMPTS} attempts", "Conflict"
        )

    def _staying(self, kind: str, name: str) -> Object | None:
        """Return an object, or None; wait for an earlier one of the name that is being deleted."""
        for _ in range(_LEAVING_S):
            live = self.get(kind, name)
            if live is None or live["metadata"].get("deletionTimestamp") is None:
                return live
            self.sleep(1.0)
        raise KubernetesError(
            f"{kind} {name} in namespace {self.namespace} is still being deleted after {_LEAVING_S} s: does "
            "KubeRay's operator run?"
        )

    def delete(self, live: Mapping[str, Any]) -> None:
        """Delete an object, and what belongs to it; another one of its name is left alone."""
        meta = live["metadata"]
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": {"uid": meta["uid"]},
        }
        try:
            self._request("DELETE", self._path(live["kind"], meta["name"]), body, live["kind"])
        except KubernetesError as error:
            if error.reason not in ("NotFound", "Conflict"):  # Conflict: it has another uid
                raise

    def log(self, pod: str, container: str, n_lines: int, is_previous: bool = False) -> bytes:
        """Return the last lines of a container's log; b"" if there is none."""
        asked = {"container": container, "tailLines": n_lines, "previous": str(is_previous).lower()}
        try:
            return self._request("GET", f"{self._path('Pod', pod)}/log?{urlencode(asked)}", kind="Pod")
        except KubernetesError as error:
            if error.reason in ("NotFound", "BadRequest"):  # no such container yet
                return b""
            raise

    def events(self, name: str) -> list[str]:
        """Return the last events about an object, such as "Failed: image not found", oldest first."""
        found = self.select("Event", fields=f"involvedObject.name={name}")
        found.sort(key=lambda one: str(one.get("lastTimestamp") or one.get("eventTime") or ""))
        return [f"{one.get('reason')}: {one.get('message')}" for one in found[-5:]]

    def _send(self, method: str, path: str, body: Mapping[str, Any]) -> Object:
        answer: Object = json.loads(
            self._request(method, f"{path}?fieldValidation=Strict", body, body["kind"])
        )
        return answer

    def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, kind: str = ""
    ) -> bytes:
        for attempt in range(ATTEMPTS):
            try:
                return self.transport.request(method, path, body)
            except KubernetesError as error:
                if error.reason in PASSING and attempt + 1 < ATTEMPTS:
                    self.sleep(min(0.25 * 2**attempt, 5.0))
                    continue
                raise self._explained(error, kind) from None
        raise AssertionError("unreachable")

    def _path(self, kind: str, name: str = "") -> str:
        api, plural = PATHS[kind]
        path = f"{api}/namespaces/{quote(self.namespace)}/{plural}"
        return f"{path}/{quote(name)}" if name else path

    def _explained(self, error: KubernetesError, kind: str) -> KubernetesError:
        text = str(error)
        if (
            error.reason == "NotFound"
            and kind.startswith("Ray")
            and "could not find the requested resource" in text
        ):
            return KubernetesError(f"{text}. {INSTALL}", "NoKubeRay")
        if error.reason == "NotFound" and "namespaces" in text:
            make = f"kubectl create namespace {self.namespace}"
            return KubernetesError(f"{text}. Make it ({make}), or name another one in provider.namespace", "")
        if "unknown field" in text and ("authOptions" in text or "secretName" in text):
            return KubernetesError(f"{text}. Upgrade KubeRay there to 1.6 or newer", error.reason)
        if error.reason == "Forbidden":
            return KubernetesError(
                f"{text}. Ask for a role in namespace {self.namespace} that may get, list, create, update "
                "and delete RayClusters, RayJobs and Secrets, list pods, services, events and persistent "
                "volume claims, and exec in pods",
                "Forbidden",
            )
        return error


def is_ours(live: Mapping[str, Any], name: str) -> bool:
    """Return whether an object has the label of the cluster with this name."""
    labels = live["metadata"].get("labels") or {}
    return bool(labels.get(TAG) == name)


def _with_hash(manifest: Mapping[str, Any]) -> Object:
    if manifest["kind"] == "Secret":  # compared by its content: a hash of a token is nobody's business
        return dict(manifest)
    text = json.dumps(manifest, sort_keys=True).encode()
    meta = manifest["metadata"]
    annotations = {**meta.get("annotations", {}), HASH: hashlib.sha256(text).hexdigest()[:16]}
    return {**manifest, "metadata": {**meta, "annotations": annotations}}


def _check_ours(live: Object, wanted: Object, namespace: str) -> None:
    if not is_ours(live, wanted["metadata"]["labels"][TAG]):
        kind, name = wanted["kind"], wanted["metadata"]["name"]
        raise KubernetesError(
            f"{kind} {name} in namespace {namespace} is not Overtone's (no label {TAG}={name}): choose "
            "another name for the cluster, or another namespace"
        )


def _is_same(live: Object, wanted: Object) -> bool:
    if wanted["kind"] == "Secret":
        owners = wanted["metadata"].get("ownerReferences")
        return bool(
            live.get("data") == wanted["data"] and owners in (None, live["metadata"].get("ownerReferences"))
        )
    annotations = live["metadata"].get("annotations") or {}
    return bool(annotations.get(HASH) == wanted["metadata"]["annotations"][HASH])


def _changed(live: Object, wanted: Object) -> Object:
    """Return the live object with the wanted content; the autoscaler's numbers stay."""
    meta = {**live["metadata"]}
    for key in ("labels", "annotations"):
        if key in wanted["metadata"]:
            meta[key] = {**(meta.get(key) or {}), **wanted["metadata"][key]}
    if "ownerReferences" in wanted["metadata"]:
        meta["ownerReferences"] = wanted["metadata"]["ownerReferences"]
    changed = {**live, **wanted, "metadata": meta}
    if wanted["kind"] == "RayCluster":
        groups = {one["groupName"]: one for one in live["spec"].get("workerGroupSpecs") or []}
        changed["spec"] = {**wanted["spec"]}
        changed["spec"]["workerGroupSpecs"] = [
            {**_autoscaled(groups.get(one["groupName"], {})), **one}
            for one in wanted["spec"].get("workerGroupSpecs", [])
        ]
    return changed


def _autoscaled(group: Mapping[str, Any]) -> Object:
    return {key: group[key] for key in ("replicas", "scaleStrategy") if key in group}
