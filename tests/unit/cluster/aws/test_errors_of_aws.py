"""What is said where AWS cannot be used at all."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from overtone.cluster.aws import access
from overtone.cluster.cloud_errors import CloudError
from overtone.cluster.config_reading import parse_config
from overtone.cluster.provider_modules import about
from overtone.cluster.providers import aws
from overtone.errors import MissingPackageError

CONFIG = "name: digits\nprovider: {type: aws, region: eu-west-1}\nworkers: {type: g5.xlarge, max: 1}\n"


def test_without_boto3_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in sys.modules if one.partition(".")[0] in ("boto3", "botocore")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("boto3", "botocore"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match=re.escape("overtone[aws]")):
        aws.find(parse_config(CONFIG, Path("c.yaml")))


def test_without_a_default_network_the_advice_is_a_setting_that_exists() -> None:
    ec2 = SimpleNamespace(describe_vpcs=lambda **asked: {"Vpcs": []})
    with pytest.raises(CloudError) as caught:
        access.ensure_group(ec2, "digits", [], "192.0.2.7/32")
    setting = re.search(r"provider: \{(\w+):", str(caught.value))
    assert setting is not None
    assert setting[1] in about("aws").keys
