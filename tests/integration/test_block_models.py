import torch
from torch.nn import functional

from clar_tune.graphs.block_models import generate
from clar_tune.graphs.splits import search_nodes


def two_layer_accuracy(name: str, propagate: bool) -> float:
    """Accuracy of a two-layer GCN, or of the same weights without edges, on held-out nodes."""
    graph = generate(name)
    split = search_nodes(graph, "balanced-60-20-20", split_seed=0)
    x, y = torch.tensor(graph.features.toarray()), torch.tensor(graph.labels)
    a = torch.eye(graph.num_nodes)
    if propagate:
        a[graph.edges[1], graph.edges[0]] = 1
    a = a / a.sum(0, keepdim=True).sqrt() / a.sum(1, keepdim=True).sqrt()
    smoothed = a @ x
    draw = torch.Generator().manual_seed(0)
    weights = [
        (torch.randn(sizes, generator=draw) / sizes[0] ** 0.5).requires_grad_()
        for sizes in ((x.shape[1], 32), (32, graph.num_classes))
    ]
    optimizer = torch.optim.Adam(weights, lr=0.01, weight_decay=5e-3)
    for _ in range(100):
        logits = a @ ((smoothed @ weights[0]).relu() @ weights[1])
        loss = functional.cross_entropy(logits[split.train], y[split.train])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float((logits[split.val].argmax(1) == y[split.val]).float().mean())


def test_edges_help_on_the_homophilic_graph_and_hurt_on_the_other():
    gcn, mlp = (two_layer_accuracy("csbm-homophily", edges) for edges in (True, False))
    assert 0.7 < gcn < 0.93
    assert mlp < gcn - 0.1
    gcn, mlp = (two_layer_accuracy("csbm-heterophily", edges) for edges in (True, False))
    assert gcn + 0.1 < mlp < 0.9
