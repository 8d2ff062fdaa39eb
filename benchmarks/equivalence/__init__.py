"""The native engine against the torch path: mathematics, random streams, accuracy.

``python -m benchmarks.equivalence`` has a command for each part; each part is a file.
"""
