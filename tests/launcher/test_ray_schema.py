"""The cluster YAML that Overtone writes, by the schema of Ray itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("jsonschema")

from overtone.cluster.config_reading import parse_config, read_config  # noqa: E402
from overtone.cluster.ray_form import ray_yaml, yaml_text  # noqa: E402
from overtone.cluster.ray_reading import RAY_TOP_KEYS  # noqa: E402

FOLDER = Path(__file__).parents[1] / "data" / "clusters"
CONFIGS = [path for path in sorted(FOLDER.glob("*.yaml")) if path.name.startswith(("aws", "gcp", "local"))]


def test_the_keys_of_rays_cluster_yaml_are_known():
    schema = json.loads((Path(ray.__file__).parent / "autoscaler" / "ray-schema.json").read_text())
    assert set(schema["properties"]) == set(RAY_TOP_KEYS)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_ray_accepts_it(path):
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = read_config(path)
    written = ray_yaml(config, ray_version=ray.__version__, token_file=str(path), head_commands=["true"])
    prepared = prepare_config(written)
    validate_config(prepared)
    counts = [node["min_workers"] for node in prepared["available_node_types"].values()]
    assert sum(counts) == config.workers.min
    assert prepared["max_workers"] == config.workers.max
    assert prepared["provider"].get("cache_stopped_nodes", False) is False


def test_rays_own_defaults_are_accepted_as_they_are():
    for kind in ("aws", "gcp"):
        path = Path(ray.__file__).parent / "autoscaler" / kind / "defaults.yaml"
        config = parse_config(path.read_text(), path)
        assert (config.is_ray, config.provider.type, config.workers.max, config.workers.spot) == (
            True,
            kind,
            2,
            True,
        )
        assert yaml_text(ray_yaml(config, ray_version=ray.__version__, token_file="t"))
