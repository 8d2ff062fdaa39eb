"""Graphs of the catalogue whose files the tests can have."""

from clar_tune.graphs.catalogue import DATASETS

NOT_TO_BE_HAD = {"wisconsin", "roman-empire", "amazon-ratings", "questions"}
"""Their files are not among those that tests are given: files of their form are made instead."""

WITH_FILES = [name for name, row in DATASETS.items() if row.source and name not in NOT_TO_BE_HAD]
