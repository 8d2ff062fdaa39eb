"""The package as a module, and what loading it does not load."""

import pickle
from importlib import import_module

import clar_tune as ct
from clar_tune import api


def test_report_stays_a_function_when_the_package_of_that_name_is_loaded():
    package = import_module("clar_tune.report")
    from clar_tune.report import build_page

    assert ct.report is api.report
    assert build_page is package.build_page


def test_the_package_travels_to_workers_by_its_name():
    assert pickle.loads(pickle.dumps(ct)) is ct
