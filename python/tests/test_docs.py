"""The examples of the documentation run."""

import doctest
import pathlib

import dkp

ROOT = pathlib.Path(__file__).parents[2]


def test_examples():
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, encoding="utf-8")
    assert failed == 0 and tried > 10
    for estimator in (dkp.DeepKernelRegressor, dkp.DeepKernelClassifier):
        found = doctest.DocTestFinder(recurse=False).find(estimator, estimator.__name__)
        results = [doctest.DocTestRunner().run(test) for test in found]
        assert sum(r.attempted for r in results) > 0 and sum(r.failed for r in results) == 0
