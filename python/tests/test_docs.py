"""The examples of the documentation run."""

import doctest
import pathlib

import numpy as np

import dkp

ROOT = pathlib.Path(__file__).parents[2]


def test_the_readmes_excerpt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    python = (ROOT / "README.md").read_text(encoding="utf-8").split("## The same from Python")[1].split("```python")[1].split("```")[0]
    names = {}
    exec(python, names)
    # the figures in its comments
    assert np.allclose(names["mean"][:3], [167, 77, 157], atol=1) and np.allclose(names["std"][:3], [68, 32, 49], atol=1)
    quantiles = names["model"].predict_quantiles(names["X"][400:403], [0.05, 0.95])
    assert np.allclose(quantiles, [[56, 278], [25, 129], [77, 238]], atol=1)
    assert (tmp_path / "diabetes.html").exists() and (tmp_path / "diabetes.dkp").exists()


def test_examples():
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, encoding="utf-8")
    assert failed == 0 and tried > 10
    for estimator in (dkp.DeepKernelRegressor, dkp.DeepKernelClassifier):
        found = doctest.DocTestFinder(recurse=False).find(estimator, estimator.__name__)
        results = [doctest.DocTestRunner().run(test) for test in found]
        assert sum(r.attempted for r in results) > 0 and sum(r.failed for r in results) == 0
