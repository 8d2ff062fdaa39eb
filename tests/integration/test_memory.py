"""What trainings are said to need, against what they really take."""

import subprocess
import sys

import pytest
from support.memory_plans import plan

from clar_tune.graphs.loading import load
from clar_tune.search.memory import MIB, needs

CHILD = """
import sys, warnings
warnings.simplefilter("ignore")
import ray.tune
from clar_tune.graphs.loading import load
from clar_tune.models.method import Method
from clar_tune.graphs.splits import seed_pair, search_nodes
from clar_tune.models.tensors import TensorGraph
from clar_tune.training.loop import train, warm_up

graph, method = load(sys.argv[1]), Method.parse(sys.argv[2])
tensors = TensorGraph.of(graph)
warm_up()
protocol = "balanced-60-20-20"
seeds = seed_pair(graph.name, protocol, 0, 0, "repeat")
sampling = {"sampling": "edge"} if method.regularizer == "clar" else {}
spec = method.spec(graph, {"dropout": 0.5, **sampling}, protocol, seeds, max_epochs=3)
train(spec, tensors, search_nodes(graph, protocol, spec.split_seed, 0.0))
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
peak, files = (int(status[name].split()[0]) * 1024 for name in ("VmHWM", "RssFile"))
print(peak - files)
"""
"""Prints the most memory that it had to itself: pages of files are shared by all workers.

From VmHWM, which begins anew with a program: getrusage would name the parent's peak if larger.
"""


@pytest.mark.parametrize("graph", ["csbm-homophily", "cora", "chameleon", "physics"])
@pytest.mark.parametrize("method", ["gat", "gcn+clar"])
def test_no_training_takes_more_than_it_asks_for(graph, method, request):
    if graph != "csbm-homophily":
        request.getfixturevalue("data_folder")
    asked = needs(plan(graph=graph, method=method), [load(graph)])[graph]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, graph, method], check=True, capture_output=True, text=True
    )
    taken = int(done.stdout)
    assert taken < asked, f"{taken / MIB:.0f} of {asked / MIB:.0f} MiB"
    assert asked < 2.5 * taken
    assert taken < 2e9
