"""Hyper-parameter search for graph neural networks with complement Laplacian regularization."""
