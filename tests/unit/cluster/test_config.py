"""The configs of clusters: what they say, and the errors of forty that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from overtone.cluster.config import ClusterConfig, ConfigError, Limits, Workers
from overtone.cluster.config_reading import parse_config, read_config
from overtone.cluster.durations import duration_text, seconds_of

pytest.importorskip("yaml")

DIGITS = """\
name: digits
provider: {type: aws, region: eu-west-1}
head: m6i.large
workers: {type: g5.xlarge, min: 0, max: 8, spot: true, idle: 5m}
files: .
setup: pip install -r requirements.txt
limits: {cluster_idle: 15m, hours: 12, price: 20}
"""


def parse(text: str, source: Path = Path("c.yaml")) -> ClusterConfig:
    return parse_config(text, source)


def test_each_key_is_read(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(DIGITS)
    config = read_config(path)
    assert (config.name, config.head) == ("digits", "m6i.large")
    assert (config.provider.type, config.provider.settings) == ("aws", {"region": "eu-west-1"})
    assert config.workers == Workers("g5.xlarge", 0, 8, True, 300.0)
    assert config.files == tmp_path
    assert config.setup == ("pip install -r requirements.txt",)
    assert config.limits == Limits(900.0, 12.0, 20.0)
    assert (config.lines["workers.max"], config.lines["limits"]) == (4, 7)


def test_local_hosts_are_the_workers_and_the_first_is_the_head():
    config = parse("name: lab\nprovider: {type: local, hosts: [a, b, c]}\n")
    assert (config.head, config.workers.min, config.workers.max) == ("a", 2, 2)
    assert config.limits == Limits()
    some = parse("name: lab\nprovider: {type: local, hosts: [a, b, c]}\nhead: b\nworkers: {min: 0}\n")
    assert (some.head, some.workers.min, some.workers.max) == ("b", 0, 2)


def test_setup_is_a_text_or_a_list():
    head = "name: lab\nprovider: {type: local, hosts: [a]}\n"
    assert parse(f"{head}setup: make").setup == ("make",)
    assert parse(f"{head}setup:\n  - make\n  - make install").setup == ("make", "make install")


LOCAL = "name: lab\nprovider: {type: local, hosts: [a, b]}\n"
AWS = "name: lab\nprovider: {type: aws, region: eu-west-1}\n"
SMALL = AWS + "workers: {type: m6i.large, max: 2}\n"
OLD_RAY = "cluster_name: lab\nprovider: {type: aws, region: us-west-2}\n"

BROKEN = [
    ("", 1, ["the file is empty", "write name, provider and workers"]),
    ("- name\n", 1, ["must be keys with values", "name: digits"]),
    ("provider: {type: aws, region: x}\n", 1, ["name is missing", "name: digits"]),
    ("name: lab\n", 1, ["provider is missing", "{type: aws, region: eu-west-1}"]),
    (f"{LOCAL}worker: 3\n", 3, ["worker: is not a key", "did you mean 'workers'?"]),
    (f"{LOCAL}gpus: 3\n", 3, ["gpus: is not a key", "its keys: name, provider"]),
    (
        "name: My_Lab\nprovider: {type: local, hosts: [a]}\n",
        1,
        ["name='My_Lab'", "small letters", "digits-2"],
    ),
    ("name: 3\nprovider: {type: local, hosts: [a]}\n", 1, ["name=3", "put it in quotes"]),
    (f"name: {'a' * 33}\nprovider: {{type: local, hosts: [a]}}\n", 1, ["1 to 32", "digits-2"]),
    ("name: lab\nprovider: aws\n", 2, ["provider='aws'", "{type: aws, region: eu-west-1}"]),
    ("name: lab\nprovider: {region: x}\n", 2, ["type is missing", "one of local, aws, gcp"]),
    ("name: lab\nprovider:\n  type: asw\n", 3, ["provider.type='asw'", "did you mean 'aws'?"]),
    (
        "name: lab\nprovider: {type: azure}\n",
        2,
        ["provider.type='azure'", "one of local, aws, gcp, kubernetes"],
    ),
    ("name: lab\nprovider:\n  type: aws\n", 2, ["region is missing", "region: eu-west-1"]),
    (
        "name: lab\nprovider: {type: gcp, zone: us-central1-a}\n",
        2,
        ["project is missing", "project: my-project"],
    ),
    ("name: lab\nprovider:\n  type: aws\n  regoin: x\n", 4, ["regoin", "did you mean 'region'?"]),
    ("name: lab\nprovider: {type: local}\n", 2, ["hosts is missing", "[10.0.0.1, 10.0.0.2]"]),
    ("name: lab\nprovider: {type: local, hosts: 10.0.0.1}\n", 2, ["must be a list", "[10.0.0.1"]),
    ("name: lab\nprovider: {type: local, hosts: []}\n", 2, ["at least one item"]),
    (
        "name: lab\nprovider:\n  type: local\n  hosts:\n  - a\n  - b\n  - a\n",
        7,
        ["hosts.2='a'", "is there twice"],
    ),
    ("name: lab\nprovider: {type: local, hosts: [a], port: 99999}\n", 2, ["port=99999", "1 to 65,535", "22"]),
    ("name: lab\nprovider: {type: local, hosts: [a], user: 7}\n", 2, ["user=7", "ubuntu", "quotes"]),
    (f"{LOCAL}head: c\n", 3, ["head='c'", "one of provider.hosts: a, b"]),
    (f"{AWS}head: {{type: m6i.large}}\n", 3, ["must be a machine type alone", "m6i.large"]),
    (f"{LOCAL}workers: {{min: 2}}\n", 3, ["workers.min=2", "at most 1", "provider.hosts"]),
    (f"{LOCAL}workers: {{type: g5.xlarge}}\n", 3, ["workers.type='g5.xlarge'", "remove it"]),
    (f"{LOCAL}workers: {{spot: true}}\n", 3, ["workers.spot=True", "no spot machines", "false"]),
    (f"{AWS}workers:\n  type: g5.xlarge\n  max: -1\n", 5, ["workers.max=-1", "from 0 to 10,000", "8"]),
    (
        f"{AWS}workers:\n  type: g5.xlarge\n  min: 5\n  max: 2\n",
        6,
        ["workers.max=2", "at least workers.min=5"],
    ),
    (f"{AWS}workers: {{type: g5.xlarge}}\n", 3, ["max is missing", "max: 8"]),
    (f"{AWS}workers: {{max: 2}}\n", 3, ["type is missing", "type: g5.xlarge"]),
    (f"{AWS}workers: {{type: x, max: 2.5}}\n", 3, ["workers.max=2.5", "whole number"]),
    (f"{AWS}workers: {{type: x, max: 2, spot: maybe}}\n", 3, ["workers.spot='maybe'", "true or false"]),
    (f"{AWS}workers: {{type: x, max: 2, idle: soon}}\n", 3, ["workers.idle='soon'", "duration", "5m"]),
    (f"{AWS}workers: 4\n", 3, ["workers=4", "workers: {type: g5.xlarge"]),
    (f"{SMALL}files: ./nowhere\n", 4, ["files='./nowhere'", "folder that exists"]),
    (f"{SMALL}setup: {{pip: torch}}\n", 4, ["setup=", "a shell command, or a list"]),
    (f"{SMALL}setup:\n- make\n- 3\n", 6, ["setup.1=3", "pip install -r requirements.txt"]),
    (f"{SMALL}limits: {{hours: never}}\n", 4, ["limits.hours='never'", "null for no limit"]),
    (f"{SMALL}limits: {{price: -3}}\n", 4, ["limits.price=-3", "such as 20"]),
    (f"{SMALL}limits: {{idle: 15m}}\n", 4, ["limits.idle", "its keys: cluster_idle"]),
    (f"{SMALL}limits:\n  cluster_idle: 15 minuts\n", 5, ["limits.cluster_idle='15 minuts'", "15m"]),
    (f"{LOCAL}limits: {{price: 20}}\n", 3, ["limits.price=20", "write provider.price", "limits.hours"]),
    (f"{SMALL}raw: 3\n", 4, ["raw=3", "keys of Ray's cluster YAML"]),
    (f"{SMALL}raw: {{provider: {{cache_stopped_nodes: true}}}}\n", 4, ["cache_stopped_nodes", "write false"]),
    (f"{SMALL}raw: {{max_worker: 3}}\n", 4, ["raw.max_worker", "did you mean 'max_workers'?"]),
    (f"{LOCAL}name: other\n", 3, ["name is there twice", "line 1", "remove one"]),
    ("name: lab\nprovider:\n\ttype: local\n", 3, ["a tab", "spaces only"]),
    ("name: lab\nprovider: {type: local\nhosts: [a]\n", 3, ["is not YAML", "a space after each colon"]),
    ("name: !!python/object:os.system x\n", 1, ["!!python/object", "not allowed", "plain value"]),
    ("name: !secret x\n", 1, ["!secret", "quote a text"]),
    ("name: *lab\n", 1, ["undefined alias", "quote a text that begins with *"]),
    (f"{LOCAL}limits: {{hours: 1:30}}\n", 3, ["1:30", "base 60", "quotes"]),
    (f"{LOCAL}head: a\x00\n", 3, ["a character that YAML does not allow"]),
    (f"{LOCAL}---\nname: two\n", 3, ["second document", "one file has one cluster"]),
    (f"{LOCAL}1: x\n", 3, ["must be a text", "quotes"]),
    (f"{OLD_RAY}max_workers: 1\nmin_workers: 2\n", 3, ["max_workers=1", "at least min_workers=2"]),
    (f"{OLD_RAY}head_nod: {{}}\n", 3, ["head_nod", "did you mean 'head_node'?"]),
    ("cluster_name: lab\nprovider: {type: azure}\n", 2, ["aws, gcp, local", "`ray up`"]),
    (
        "cluster_name: lab\nprovider: {type: local, worker_ips: [b]}\n",
        2,
        ["head_ip is missing", "head_ip: 10.0.0.1"],
    ),
    ("cluster_name: lab\nprovider: {type: local, head_ip: a, worker_ips: [b, a]}\n", 2, ["is there twice"]),
    (
        f"{OLD_RAY}available_node_types: {{a: {{}}}}\nhead_node_type: b\n",
        4,
        ["head_node_type='b'", "one of a"],
    ),
]


@pytest.mark.parametrize(("text", "line", "parts"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_config_names_the_line_and_the_mend(text, line, parts):
    with pytest.raises(ConfigError) as caught:
        parse(text)
    message = str(caught.value)
    assert message.startswith(f"c.yaml:{line}: ")
    assert [part for part in parts if part not in message] == []
    assert "\n" not in message


def test_aliases_are_values_and_a_bomb_of_them_is_refused():
    shared = "name: lab\nprovider: {type: local, hosts: &all [a, b]}\nraw: {metadata: {x: *all}}\n"
    assert parse(shared).raw == {"metadata": {"x": ["a", "b"]}}
    bomb = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))
    with pytest.raises(ConfigError, match="aliases"):
        parse(bomb)
    with pytest.raises(ConfigError, match="levels deep"):
        parse("a: &a\n  b: *a\n")  # a value within itself


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nothing\.yaml: cannot be read: No such file"):
        read_config(tmp_path / "nothing.yaml")
    path = tmp_path / "c.yaml"
    path.write_bytes(b"name: lab\nhead: \xff\n")
    with pytest.raises(ConfigError, match=r"c\.yaml:2: is not UTF-8"):
        read_config(path)
    path.write_bytes(b"#" * 1_000_001)
    with pytest.raises(ConfigError, match="larger than 1,000,000 bytes"):
        read_config(path)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5m", 300), ("90", 90), (90, 90), ("1h30m", 5400), ("2 h", 7200), ("1d", 86400), ("0.5h", 1800), ("15M", 900),
     ("soon", None), ("", None), ("5m!", None), (True, None), (None, None), (-1, None), ("m5", None)],
)  # fmt: skip
def test_durations(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (45, "45s"), (300, "5m"), (5400, "1h30m"), (86461, "24h1m1s")]
)
def test_durations_are_written_as_they_are_read(seconds, text):
    assert duration_text(seconds) == text
    assert seconds_of(text) == seconds
