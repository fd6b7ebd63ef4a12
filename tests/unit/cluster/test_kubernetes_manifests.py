"""Manifests of clusters on Kubernetes, and their strict checks."""

from __future__ import annotations

import base64
import gzip
import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from overtone.cluster.config import ConfigError
from overtone.cluster.config_reading import parse_config
from overtone.cluster.kubernetes.archive import MOST_BYTES, archive_of
from overtone.cluster.kubernetes.fields import is_quantity, known_fields, wrong_fields
from overtone.cluster.kubernetes.manifests import Versions, ray_cluster, ray_job, secrets_of, start_script
from overtone.cluster.kubernetes.merging import merged
from overtone.cluster.kubernetes.patterns import files_below, is_excluded
from overtone.cluster.kubernetes.resources import resources_of
from overtone.cluster.providers import kubernetes as provider

VERSIONS = Versions("2.60.0", "3.11", "0.1.0")
TOKEN = "0123456789abcdef" * 4
BASE = "name: digits\nprovider: {type: kubernetes, image: 'rayproject/ray:2.60.0-py311'}\n"


def config(more="workers: {min: 0, max: 8}\n", base=BASE, folder=Path(".")):
    return parse_config(base + more, folder / "c.yaml")


def spec_of(manifest):
    return manifest["spec"].get("rayClusterSpec", manifest["spec"])


def pods_of(manifest):
    spec = spec_of(manifest)
    groups = [spec["headGroupSpec"], *spec.get("workerGroupSpecs", [])]
    return [group["template"] for group in groups]


@pytest.mark.parametrize("make", [ray_cluster, ray_job])
@pytest.mark.parametrize(
    "more",
    ["workers: {min: 0, max: 8}\n", "workers: {min: 2, max: 2}\n", "", "setup: pip install x\nworkers: {max: 1}\n",
     "head: cpu=500m,memory=2Gi\nworkers: {type: 'cpu=8,memory=32Gi,gpu=2', max: 3}\n",
     "limits: {hours: 1, cluster_idle: 30s}\nworkers: {max: 1}\n"],
)  # fmt: skip
def test_manifests_are_strictly_right(make, more):
    for has_files in (False, True):
        assert wrong_fields(make(config(more), VERSIONS, has_files)) == []


def test_all_that_is_made_has_the_label_also_the_pods():
    for make in (ray_cluster, ray_job):
        manifest = make(config(), VERSIONS, True)
        made = [manifest, *pods_of(manifest), *secrets_of(config(), TOKEN, b"x")]
        assert len(made) == 5
        assert all(one["metadata"]["labels"] == {"overtone-cluster": "digits"} for one in made)


def test_the_token_is_in_its_secret_alone():
    secret, *_ = secrets_of(config(), TOKEN, None)
    assert base64.b64decode(secret["data"]["auth_token"]).decode() == TOKEN
    assert wrong_fields(secret) == []
    manifest = ray_job(config(), VERSIONS, True)
    assert manifest["spec"]["rayClusterSpec"]["authOptions"] == {
        "mode": "token",
        "secretName": "digits-token",
    }
    for pod in pods_of(manifest):
        env = {one["name"]: one for one in pod["spec"]["containers"][0]["env"]}
        assert env["RAY_AUTH_MODE"]["value"] == "token"
        assert env["RAY_AUTH_TOKEN"] == {
            "name": "RAY_AUTH_TOKEN", "valueFrom": {"secretKeyRef": {"name": "digits-token", "key": "auth_token"}},
        }  # fmt: skip


def test_a_job_ends_without_anybody():
    job = ray_job(config("limits: {hours: 2, cluster_idle: 10m}\nworkers: {max: 1}\n"), VERSIONS, False)[
        "spec"
    ]
    assert job["shutdownAfterJobFinishes"] is True
    assert (job["ttlSecondsAfterFinished"], job["activeDeadlineSeconds"], job["backoffLimit"]) == (
        600,
        7200,
        0,
    )
    unlimited = ray_job(config("limits: {hours: null}\nworkers: {max: 1}\n"), VERSIONS, False)["spec"]
    assert 0 < unlimited["activeDeadlineSeconds"] <= 12 * 3600 * 14  # never without a deadline
    assert not set(job["entrypoint"]) & set("'\"$;&|<>`")  # KubeRay and Ray quote it differently


def test_workers_scale_and_drain():
    spec = spec_of(
        ray_cluster(
            config("workers: {type: 'cpu=8,memory=32Gi,gpu=1', min: 1, max: 4, idle: 2m}\n"), VERSIONS, False
        )
    )
    assert spec["enableInTreeAutoscaling"] is True
    assert spec["autoscalerOptions"]["idleTimeoutSeconds"] == 120
    (group,) = spec["workerGroupSpecs"]
    assert (group["minReplicas"], group["maxReplicas"]) == (1, 4)
    assert "replicas" not in group  # the autoscaler's
    pod = group["template"]["spec"]
    quantities = {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "1"}
    assert pod["containers"][0]["resources"] == {"requests": quantities, "limits": quantities}
    hook = pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    assert "ray drain-node" in hook[-1]
    assert f"--deadline-remaining-seconds {pod['terminationGracePeriodSeconds'] - 10}" in hook[-1]
    assert "lifecycle" not in spec["headGroupSpec"]["template"]["spec"]["containers"][0]
    assert "workerGroupSpecs" not in spec_of(ray_cluster(config(""), VERSIONS, False))


def test_the_version_of_ray_is_the_image_s():
    base = BASE.replace("2.60.0-py311", "2.55.1-py310-gpu")
    assert spec_of(ray_cluster(config(base=base), VERSIONS, False))["rayVersion"] == "2.55.1"
    own = config(base="name: digits\nprovider: {type: kubernetes, image: 'lab/ours:latest'}\n")
    assert spec_of(ray_cluster(own, VERSIONS, False))["rayVersion"] == "2.60.0"
    none = config(base="name: digits\nprovider: {type: kubernetes}\n")
    assert (
        pods_of(ray_cluster(none, VERSIONS, False))[0]["spec"]["containers"][0]["image"]
        == "rayproject/ray:2.60.0-py311"
    )


def test_raw_is_merged_and_wins():
    raw = """workers: {max: 2, spot: true}
raw:
  headGroupSpec: {serviceType: NodePort}
  workerGroupSpecs:
    - maxReplicas: 3
      template:
        spec:
          nodeSelector: {cloud.google.com/gke-spot: "true"}
          containers: [{name: ray-worker, env: [{name: A, value: b}]}, {name: side, image: x}]
"""
    provider.check(config(raw))
    spec = spec_of(ray_cluster(config(raw), VERSIONS, False))
    assert spec["headGroupSpec"]["serviceType"] == "NodePort"
    (group,) = spec["workerGroupSpecs"]
    assert (group["groupName"], group["minReplicas"], group["maxReplicas"]) == ("worker", 0, 3)
    assert [one["name"] for one in group["template"]["spec"]["containers"]] == ["ray-worker", "side"]
    assert [one["name"] for one in group["template"]["spec"]["containers"][0]["env"]] == [
        *("OVERTONE_CLUSTER", "OVERTONE_RAY_CLUSTER", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "A"),
    ]


def test_merging_changes_neither_side():
    base, raw = (
        {"a": [{"name": "x", "v": 1}], "b": [1]},
        {"a": [{"name": "x", "v": 2}, {"name": "y"}], "b": [2]},
    )
    assert merged(base, raw) == {"a": [{"name": "x", "v": 2}, {"name": "y"}], "b": [2]}
    assert (base["a"], base["b"]) == ([{"name": "x", "v": 1}], [1])


@pytest.mark.parametrize(
    ("more", "line", "said"),
    [
        ("raw: {headGroupSpecs: {}}\nworkers: {max: 1}\n", 3, "raw.headGroupSpecs: is not a field of RayClusterSpec in KubeRay 1.7; did you mean 'headGroupSpec'?"),
        ("workers: {max: 1}\nraw:\n  workerGroupSpecs:\n    - maxReplicas: many\n", 6, "workerGroupSpecs.0.maxReplicas: must be a whole number"),
        ("raw: {workerGroupSpecs: [{template: {spec: {nodeSelecter: {}}}}]}\nworkers: {max: 1}\n", 3, "did you mean 'nodeSelector'?"),
        ("raw: {autoscalerOptions: {upscalingMode: Fast}}\n", 3, "must be one of Default, Aggressive, Conservative"),
        ("raw: {workerGroupSpecs: [{groupName: other}]}\nworkers: {max: 1}\n", 3, "template: is missing"),
        ("head: m6i.large\n", 3, "head='m6i.large': must be quantities by resource, such as cpu=8,memory=32Gi,gpu=1"),
        ("head: cpu=2\n", 3, "memory is missing"),
        ("workers: {type: 'cpu=2,memory=4Gi,gpu=0.5', max: 1}\n", 3, "a whole number of nvidia.com/gpu"),
        ("workers: {type: 'cpu=2,memory=4', max: 1}\n", 3, "at least 512Mi"),
        ("workers: {type: 'cpu=2,cpu=3,memory=4Gi', max: 1}\n", 3, "cpu is there twice"),
        ("workers: {max: 1, spot: true}\n", 3, "select them by raw"),
    ],
)  # fmt: skip
def test_a_wrong_config_names_its_line(more, line, said):
    with pytest.raises(ConfigError) as error:
        provider.check(config(more))
    assert said in str(error.value)
    assert str(error.value).startswith(f"c.yaml:{line}: ")


@pytest.mark.parametrize("text", ["2", "500m", "1.5", "16Gi", "1e3"])
def test_quantities(text):
    assert is_quantity(text)


@pytest.mark.parametrize("text", ["", "x", "2 Gi", "-1", "16GiB", "٣", None, True])
def test_no_quantities(text):
    assert not is_quantity(text)


def test_resources_have_full_names():
    assert resources_of("cpu=2, memory=4Gi, google.com/tpu=4") == {
        "cpu": "2",
        "memory": "4Gi",
        "google.com/tpu": "4",
    }


# the table of fields, beside the classes of the package `kubernetes`

CLASSES = {
    "ObjectMeta": "V1ObjectMeta", "OwnerReference": "V1OwnerReference", "PodTemplate": "V1PodTemplateSpec", "PodSpec": "V1PodSpec",
    "Container": "V1Container", "EnvVar": "V1EnvVar", "EnvVarSource": "V1EnvVarSource", "KeyRef": "V1SecretKeySelector",
    "FieldRef": "V1ObjectFieldSelector", "ResourceFieldRef": "V1ResourceFieldSelector", "EnvFrom": "V1EnvFromSource",
    "Port": "V1ContainerPort", "Resources": "V1ResourceRequirements", "VolumeMount": "V1VolumeMount", "Volume": "V1Volume",
    "Lifecycle": "V1Lifecycle", "Hook": "V1LifecycleHandler", "ExecAction": "V1ExecAction", "SleepAction": "V1SleepAction",
    "Probe": "V1Probe", "SecurityContext": "V1SecurityContext", "PodSecurity": "V1PodSecurityContext",
    "Capabilities": "V1Capabilities", "Toleration": "V1Toleration", "Affinity": "V1Affinity", "NodeAffinity": "V1NodeAffinity",
    "NodeSelector": "V1NodeSelector", "NodeTerm": "V1NodeSelectorTerm", "Requirement": "V1NodeSelectorRequirement",
    "PreferredNode": "V1PreferredSchedulingTerm", "PodAffinity": "V1PodAffinity", "PodTerm": "V1PodAffinityTerm",
    "PreferredPod": "V1WeightedPodAffinityTerm", "LabelSelector": "V1LabelSelector", "TopologySpread": "V1TopologySpreadConstraint",
    "EmptyDir": "V1EmptyDirVolumeSource", "ClaimVolume": "V1PersistentVolumeClaimVolumeSource",
    "SecretVolume": "V1SecretVolumeSource", "ConfigMapVolume": "V1ConfigMapVolumeSource", "HostPath": "V1HostPathVolumeSource",
    "NfsVolume": "V1NFSVolumeSource", "Secret": "V1Secret",
}  # fmt: skip
LATER_OR_READ_ONLY = {
    "bindMountOptions", "creationTimestamp", "defaultUser", "deletionGracePeriodSeconds", "mode", "deletionTimestamp", "ephemeralContainers",
    "evictionResponders", "fileKeyRef", "generation", "hostnameOverride", "managedFields", "resourceVersion",
    "restartPolicyRules", "schedulingGroup", "selfLink", "uid",
}  # fmt: skip
SIMPLE = {"str": "string", "int": "integer", "bool": "boolean", "Dict[str, str]": ("map", "quantities"), "List[str]": "[string]",
          "List[int]": "[integer]", "Dict[str, bytes]": "map"}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_fields_of_pods_are_those_of_the_client_package(name):
    client = pytest.importorskip("kubernetes.client")
    model = getattr(client, CLASSES[name])
    theirs = {model.attribute_map[key]: kind for key, kind in model.openapi_types.items()}
    ours = {field: kind.rstrip("!") for field, kind in known_fields()["types"][name].items()}
    assert set(ours) <= set(theirs)
    assert set(theirs) - set(ours) <= LATER_OR_READ_ONLY
    for field, kind in ours.items():
        allowed = SIMPLE.get(theirs[field])
        if allowed is not None and kind != "any":
            texts = ("string", "quantity", "PullPolicy")
            is_text = theirs[field] == "str" and (kind in texts or kind.startswith("one of "))
            assert is_text or kind in (allowed if isinstance(allowed, tuple) else (allowed,)), (field, kind)


def test_each_type_of_the_table_is_defined_and_used():
    types = known_fields()["types"]
    used = {kind.rstrip("!").strip("[]") for fields in types.values() for kind in fields.values()}
    named = {kind for kind in used if kind[0].isupper()} - {"PullPolicy"}
    assert named - set(types) == set()
    assert set(types) - named == {"RayCluster", "RayJob", "Secret"}


# files


def test_an_archive_depends_on_the_files_alone(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.py").write_text("a")
    (tmp_path / "run.sh").write_text("b")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "lib" / "secret").symlink_to("/etc/passwd")
    (tmp_path / "lib" / ".git").mkdir()
    (tmp_path / "lib" / ".git" / "x").write_text("x")
    (tmp_path / "other").write_text("not of the setup")
    data = archive_of(tmp_path, ("lib", "run.sh"))
    (tmp_path / "run.sh").touch()
    assert archive_of(tmp_path, ("lib", "run.sh")) == data
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as tar:
        assert {one.name: one.mode for one in tar} == {"lib/a.py": 0o644, "run.sh": 0o755}


def test_files_that_are_too_large_are_an_error(tmp_path):
    import random

    (tmp_path / "big").write_bytes(random.Random(0).randbytes(MOST_BYTES + 1000))
    more = f"files: {tmp_path}\nsetup: pip install -r big\n"
    with pytest.raises(ConfigError, match=r"files=.*: is too large \(1 MB compressed\) for a Secret"):
        provider.check(config(more))
    provider.check(
        config(f"files: {tmp_path}\n")
    )  # without a setup, they are uploaded to the head, at any size


@pytest.mark.parametrize(
    ("path", "patterns", "is_out"),
    [("a/b.pyc", ["*.pyc"], True), (".git/x", [".git"], True), ("a/.git/x", [".git"], True), ("git/x", [".git"], False),
     ("a/out/x", ["/out"], False), ("out/x", ["/out"], True), ("x/a/b/c", ["a/b"], True), ("a/c", ["a/b"], False)],
)  # fmt: skip
def test_patterns(path, patterns, is_out):
    assert is_excluded(path, patterns) is is_out


def test_excluded_folders_are_not_entered(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("")
    (tmp_path / "skip").mkdir(mode=0o000)
    assert list(files_below(tmp_path, ["/skip"])) == ["a/x"]


# what a pod runs before Ray


def run_script(more, folder):
    """Run a pod's start as KubeRay writes it, with `echo` for `ray start`."""
    script = start_script(config(more), VERSIONS, False).replace("python -m pip", "echo pip")
    line = f"{script} && ulimit -n 1000; echo started $X"
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_setup_runs_before_ray_and_its_exports_stay(tmp_path):
    done = run_script("setup: ['echo one # not two', 'export X=7', 'false || true']\n", tmp_path)
    assert done.stdout.splitlines()[-2:] == ["one", "started 7"]


def test_ray_does_not_start_after_a_failed_setup(tmp_path):
    done = run_script("setup: ['echo one', 'ls /nowhere', 'echo three']\n", tmp_path)
    assert done.returncode == 64
    assert "started" not in done.stdout
    assert "three" not in done.stdout
    assert done.stderr.splitlines()[-1] == "the set up failed"
