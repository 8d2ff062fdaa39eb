"""Trials that wait for machines which an autoscaler starts; the autoscaler is Ray's own."""

import math

from support.fake_launcher import launcher, machine

from clar_tune.cluster.autoscaling import configuration, growth_from
from clar_tune.cluster.capacity import Growth
from clar_tune.cluster.resources import Node

MEMORY = 4 * 2**30


def test_node_types_and_their_limits_are_read_from_a_launchers_file():
    content = launcher(small=machine(2, 3), large=machine(8, 1, GPU=1, memory=MEMORY))
    assert growth_from(content) == Growth(
        ((Node(2, 0, math.inf, "small"), 3), (Node(8, 1, MEMORY, "large"), 1)), most=8
    )
    assert growth_from({}) == Growth()


def test_a_type_without_a_limit_has_that_of_the_cluster():
    content = launcher(small={"resources": {"CPU": 2}, "node_config": {}})
    [(_, most)] = growth_from(content).types
    assert most == 8


def test_no_autoscaler_is_found_where_there_is_none():
    assert configuration("127.0.0.1:1") == {}
