"""Plans: the steps of a command, their prices, and what is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overtone.cluster.config import ConfigError
from overtone.cluster.config_reading import parse_config
from overtone.cluster.plan import make_plan
from overtone.cluster.plan_text import plan_document, plan_text
from overtone.cluster.resource import Resource

pytest.importorskip("yaml")

AWS = """\
name: lab
provider: {type: aws, region: eu-west-1}
head: m6i.large
workers: {type: g5.xlarge, max: 8, spot: true}
setup: make
"""


def config(text: str = AWS):
    return parse_config(text, Path("c.yaml"))


def test_the_price_is_that_of_the_fewest_and_of_the_most_nodes():
    plan = make_plan(config(AWS.replace("max: 8", "min: 2, max: 8")))
    assert plan.least == pytest.approx(0.096 + 2 * 1.006)
    assert plan.most == pytest.approx(0.096 + 8 * 1.006)
    assert plan.most_in_all == pytest.approx(12 * plan.most)


def test_the_lowest_limit_bounds_the_whole_price():
    assert make_plan(config(f"{AWS}limits: {{price: 20}}\n")).most_in_all == 20
    assert make_plan(config(f"{AWS}limits: {{price: 500}}\n")).most_in_all == pytest.approx(12 * 8.144)
    assert make_plan(config(f"{AWS}limits: {{hours: null}}\n")).most_in_all is None


def test_an_unknown_price_is_said_and_an_own_one_used():
    text = AWS.replace("g5.xlarge", "z9.huge")
    plan = make_plan(config(text))
    assert (plan.unknown, plan.most, plan.most_in_all) == (("z9.huge",), None, None)
    assert "price    unknown for z9.huge: give --price" in plan_text(plan)
    assert make_plan(config(text), own_prices={"z9.huge": 2.0}).most == pytest.approx(16.096)
    assert make_plan(config(AWS.replace("m6i.large", "z9.huge"))).unknown == ("z9.huge",)


def test_a_limit_on_an_unknown_price_is_an_error_with_its_line():
    text = AWS.replace("g5.xlarge", "z9.huge") + "limits:\n  price: 20\n"
    with pytest.raises(
        ConfigError, match=r"^c\.yaml:7: limits\.price=20.*z9\.huge is unknown: write provider\.price"
    ):
        config(text)
    assert make_plan(config(text.replace("eu-west-1", "eu-west-1, price: 2"))).most_in_all == 20


def test_the_steps_of_each_command():
    def actions(command, existing=()):
        return [(step.action, step.what) for step in make_plan(config(), command, existing).steps]

    up = [("start", "head"), ("start", "worker"), ("run", "setup: make")]
    assert actions("up") == up
    assert actions("submit")[:3] == up
    assert actions("submit")[-1] == ("stop", "the machines that the command started itself")
    there = [
        Resource("instance", "i-1", "running"),
        Resource("instance", "i-2", "running"),
        Resource("volume", "v", "used"),
    ]
    assert actions("down", there) == [("stop", "instance"), ("stop", "volume")]
    assert actions("up", there)[:2] == [("keep", "instance"), ("keep", "volume")]
    assert actions("down", None) == []


def test_hosts_of_ones_own_have_no_price():
    plan = make_plan(config("name: lab\nprovider: {type: local, hosts: [a, b]}\n"))
    assert (plan.least, plan.most, plan.unknown) == (0, 0, ())
    assert "price    none for local: provider.price is that of a node" in plan_text(plan)
    assert make_plan(config("name: lab\nprovider: {type: slurm}\nworkers: {max: 2}\n")).unknown == ()
    priced = make_plan(config("name: lab\nprovider: {type: local, hosts: [a, b], price: 0.5}\n"))
    assert priced.most == 1.0


def test_the_text():
    text = plan_text(make_plan(config(), "up", [Resource("instance", "i-1", "running")]))
    assert text == (
        "cluster lab on aws, eu-west-1 (c.yaml)\n"
        "  keep   1 instance\n"
        "  start  1 head: m6i.large, on demand, $0.096 an hour\n"
        "  start  0 to 8 workers: g5.xlarge, spot, at most $1.01 an hour each\n"
        "  run    setup: make\n"
        "price    $0.096 to $8.14 an hour (us-east-1, 2025-06-01; without disks and traffic)\n"
        "limits   the head takes the cluster down after 15m without work or 12 hours: at most $97.73\n"
        "exists   1 instance\n"
        "left     after `overtone down`: nothing: no instance, volume, address, key pair, security group or role "
        "with the cluster's tag\n"
    )


def test_the_document_is_json():
    document = json.loads(json.dumps(plan_document(make_plan(config(), "submit", None))))
    assert document["existing"] is None
    assert document["price"]["least"] == pytest.approx(0.096)
    assert document["steps"][1]["is_bound"] is True


def test_hosts_that_do_not_answer_are_neither_kept_nor_nothing():
    text = "name: lab\nprovider: {type: local, hosts: [a, b]}\n"
    silent = Resource("host", "a", "ada@a does not answer")
    shown = plan_text(make_plan(config(text), existing=[silent, Resource("host", "b", "2 processes run", 1.0)]))
    assert "keep   1 host\n" in shown
    assert "exists   1 host, unknown: ada@a does not answer\n" in shown
