"""Plays KubeRay's operator and Kubernetes' garbage collector on a `FakeApiServer`.

Each request to the server is followed by one step, in which an object advances by one state: what a client sees
depends on its requests alone, not on time. The clock of ttl and deadline moves by `advance` only.
"""

from __future__ import annotations

import json

from tests.launcher.fake_api_server import FakeApiServer
from tests.launcher.fake_pods import FakePods

NODE_TYPE = "ray.io/node-type"


class FakeKubeRay:
    """The operator.

    Args:
        server: Where it works.
        pods: The pods' programs.

    Attributes:
        is_running: Whether it takes its turns.
    """

    def __init__(self, server: FakeApiServer, pods: FakePods) -> None:
        self.store, self.pods, self.is_running = server.store, pods, True
        server.step = self.step

    def advance(self, seconds: float) -> None:
        """Move the clock, and take turns until nothing changes."""
        self.store.clock_s += seconds
        self.settle()

    def settle(self) -> None:
        """Take turns until nothing changes."""
        while True:
            before = self.store.version, len(self.store.objects)
            self.step()
            if before == (self.store.version, len(self.store.objects)):
                return

    def step(self) -> None:
        """Take one turn."""
        with self.store.lock:
            self._step()

    def _step(self) -> None:
        self._collect()
        if not self.is_running:
            return
        for job in self.store.all("rayjobs"):
            self._job(job)
        for cluster in self.store.all("rayclusters"):
            self._cluster(cluster)
        for pod in self.store.all("pods"):
            self.pods.advance(pod, self._secrets(pod), self.store)

    def _collect(self) -> None:
        """Delete what belongs to owners that are gone, and end the programs of pods that are gone."""
        uids = {one["metadata"]["uid"] for one in self.store.objects.values()}
        for key, one in list(self.store.objects.items()):
            owners = one["metadata"].get("ownerReferences") or []
            if owners and not any(owner["uid"] in uids for owner in owners):
                del self.store.objects[key]
        self.pods.keep(pod["metadata"]["name"] for pod in self.store.all("pods"))

    def _job(self, job: dict) -> None:
        status, spec, meta = job.setdefault("status", {}), job["spec"], job["metadata"]
        state = status.get("jobDeploymentStatus", "")
        if state == "":
            status |= {"jobDeploymentStatus": "Initializing", "startTime": self.store.clock_s}
            status["rayClusterName"] = f"{meta['name']}-abcde"
            self._add(
                "rayclusters",
                meta["namespace"],
                status["rayClusterName"],
                job,
                meta["labels"],
                spec["rayClusterSpec"],
            )
            self.store.touch(job)
            return
        head = next((pod for pod in self._pods_of(status["rayClusterName"]) if _is_head(pod)), None)
        is_late = self.store.clock_s - status["startTime"] > spec["activeDeadlineSeconds"]
        if state == "Initializing" and head is not None and _is_ready(head):
            self.pods.run_job(head["metadata"]["name"], spec["entrypoint"])
            status["jobDeploymentStatus"] = "Running"
        elif state == "Running":
            code = self.pods.job_status(head["metadata"]["name"]) if head else 1
            if code is not None:
                status |= {
                    "jobDeploymentStatus": "Failed" if code else "Complete",
                    "endTime": self.store.clock_s,
                }
                status["jobStatus"] = "FAILED" if code else "SUCCEEDED"
        if status["jobDeploymentStatus"] not in ("Complete", "Failed") and is_late:
            status |= {
                "jobDeploymentStatus": "Failed",
                "reason": "DeadlineExceeded",
                "endTime": self.store.clock_s,
            }
        if status["jobDeploymentStatus"] in ("Complete", "Failed") and spec["shutdownAfterJobFinishes"]:
            is_over = self.store.clock_s - status["endTime"] >= spec["ttlSecondsAfterFinished"]
            if is_over and ("rayclusters", meta["namespace"], status["rayClusterName"]) in self.store.objects:
                self.store.delete("rayclusters", meta["namespace"], status["rayClusterName"], None)
        if status["jobDeploymentStatus"] != state:
            self.store.touch(job)

    def _cluster(self, cluster: dict) -> None:
        name, spec, meta = cluster["metadata"]["name"], cluster["spec"], cluster["metadata"]
        pods = self._pods_of(name)
        if spec.get("suspend"):
            for pod in pods:
                self.store.delete("pods", meta["namespace"], pod["metadata"]["name"], None)
            return
        labels = {"ray.io/cluster": name}
        if not any(map(_is_head, pods)):
            self._add_pod(
                cluster, f"{name}-head", spec["headGroupSpec"]["template"], {**labels, NODE_TYPE: "head"}
            )
            if ("services", meta["namespace"], f"{name}-head-svc") not in self.store.objects:
                self._add("services", meta["namespace"], f"{name}-head-svc", cluster, labels, {})
            return
        for group in spec.get("workerGroupSpecs", []):
            wanted = max(group.get("replicas") or 0, group["minReplicas"])
            for i in range(wanted):
                full = f"{name}-{group['groupName']}-{i}"
                if ("pods", meta["namespace"], full) not in self.store.objects:
                    self._add_pod(cluster, full, group["template"], {**labels, NODE_TYPE: "worker"})
        state = "ready" if pods and all(map(_is_ready, pods)) else ""
        if (cluster.get("status") or {}).get("state", "") != state:
            cluster["status"] = {"state": state}
            self.store.touch(cluster)

    def _add_pod(self, cluster: dict, name: str, template: dict, labels: dict) -> None:
        labels = {**template["metadata"]["labels"], **labels}
        self._add("pods", cluster["metadata"]["namespace"], name, cluster, labels, template["spec"])

    def _add(self, plural: str, namespace: str, name: str, owner: dict, labels: dict, spec: dict) -> None:
        meta = owner["metadata"]
        reference = {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": meta["name"],
            "uid": meta["uid"],
        }
        content = {"metadata": {"name": name, "labels": labels, "ownerReferences": [reference]}, "spec": spec}
        self.store.add(plural, namespace, json.loads(json.dumps(content)))

    def _pods_of(self, cluster: str) -> list[dict]:
        return [
            pod for pod in self.store.all("pods") if pod["metadata"]["labels"]["ray.io/cluster"] == cluster
        ]

    def _secrets(self, pod: dict) -> dict[str, dict]:
        return {
            one["metadata"]["name"]: one["data"]
            for one in self.store.all("secrets", pod["metadata"]["namespace"])
        }


def _is_head(pod: dict) -> bool:
    return pod["metadata"]["labels"][NODE_TYPE] == "head"


def _is_ready(pod: dict) -> bool:
    return any(one.get("ready") for one in (pod.get("status") or {}).get("containerStatuses", []))
