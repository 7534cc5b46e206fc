"""What people do with the estimators, and what goes wrong."""

import copy
import decimal
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dkp import DeepKernelClassifier, DeepKernelRegressor

QUICK = dict(inducing=15, steps=80, start_steps=150, draws=2)
NUMBERS = dict(QUICK, likelihood="gaussian")
BINARY = pathlib.Path(os.environ.get("DKP_BINARY", pathlib.Path(__file__).parents[2] / "target/debug/dkp"))


def waves(rows=120):
    x = 6 * np.modf(np.arange(rows) * 0.618034)[0]
    noise = np.modf(np.arange(rows) * 0.414214)[0] - 0.5
    return np.column_stack([x, noise[::-1]]), np.sin(x) + 0.1 * noise


def flats(rows=90):
    """Every kind of column, as pandas has them."""
    i = np.arange(rows)
    area = 30.0 + (7 * i) % 50
    frame = pd.DataFrame(
        {
            "area": np.where(i % 11 == 3, np.nan, area),
            "rooms": 1 + i % 4,
            "town": pd.Categorical(np.array(["Bath", "York", "Ely"])[i % 3]),
            "lift": i % 2 == 0,
            "built": pd.Timestamp("2001-01-01") + pd.to_timedelta(37 * i, unit="D"),
            "kind": np.where(i % 5 == 0, None, np.where(i % 2 == 0, "flat", "house")),
        }
    )
    return frame, 2.0 * area + 10.0 * (i % 3) + 5.0 * (i % 2)


def test_predictions_are_of_the_mixture():
    x, y = waves()
    model = DeepKernelRegressor(**NUMBERS).fit(x, y)
    mean, std = model.predict(x, return_std=True)
    assert mean.shape == std.shape == y.shape and np.sqrt(np.mean((mean - y) ** 2)) < 0.1
    parts = model.predict_parts(x)
    assert np.array_equal(parts[0], mean) and np.allclose(parts[1] ** 2 + parts[2] ** 2, std**2, rtol=1e-12)
    quantiles = model.predict_quantiles(x, [0.05, 0.5, 0.95])
    assert quantiles.shape == (120, 3) and np.all(np.diff(quantiles, axis=1) > 0)
    covered = np.mean((y > quantiles[:, 0]) & (y < quantiles[:, 2]))
    assert 0.75 < covered <= 1
    # the density integrates to one
    grid = np.linspace(-3, 3, 2001)
    density = np.exp(model.log_density(np.repeat(x[:1], len(grid), axis=0), grid))
    assert abs(density.sum() * (grid[1] - grid[0]) - 1) < 1e-3
    drawn = model.sample_y(x[:5], n_samples=3000, random_state=1)
    assert drawn.shape == (5, 3000) and np.allclose(drawn.mean(axis=1), mean[:5], atol=0.15 * std[:5].max())
    assert set(model.bound_) >= {"total", "likelihood", "input", "layers", "output"}
    assert model.feature_relevance_[0] > model.feature_relevance_[1] >= 0
    assert np.isclose(model.feature_relevance_.sum(), 1)
    assert np.array_equal(model.history_["step"], np.arange(80))


def test_several_targets_of_which_some_are_missing():
    x, y = waves()
    both = np.column_stack([1e3 * y, np.cos(x[:, 0])])
    both[::3, 1] = np.nan
    model = DeepKernelRegressor(**NUMBERS).fit(x, pd.DataFrame(both, columns=["heat", "wear"]))
    mean, std = model.predict(x, return_std=True)
    assert mean.shape == std.shape == (120, 2)
    assert np.sqrt(np.mean((mean[:, 1] - np.cos(x[:, 0])) ** 2)) < 0.1
    assert model.predict_quantiles(x, [0.1, 0.9]).shape == (120, 2, 2)
    assert model.sample_y(x[:4], 6).shape == (4, 2, 6)
    assert model.model_.targets() == ["heat", "wear"]
    known = model.log_density(x, both)
    assert known.shape == (120,) and np.isfinite(known).all()
    with pytest.raises(ValueError, match="y has 1 columns, but 2 are predicted"):
        model.log_density(x, y)


def test_frames_of_pandas_and_polars_are_the_same_table():
    frame, y = flats()
    model = DeepKernelRegressor(**NUMBERS).fit(frame, y)
    assert list(model.feature_names_in_) == list(frame.columns)
    notes = " ".join(json.loads(model.model_.card())["notes"])
    assert '"town" is text: 3 levels' in notes and '"built" holds dates' in notes and '"area" lacks' in notes
    columns = {
        name: pl.Series(name, [None if pd.isna(v) else v for v in frame[name]]) for name in ["area", "rooms", "lift", "built", "kind"]
    }
    columns["town"] = pl.Series("town", list(frame["town"]), dtype=pl.Categorical)
    polar = pl.DataFrame([columns[name] for name in frame.columns])
    other = DeepKernelRegressor(**NUMBERS).fit(polar, pl.Series("y", y))
    assert np.array_equal(other.predict(polar), model.predict(frame))
    kinds = np.where(y > 120, "dear", "cheap")
    classifier = DeepKernelClassifier(**QUICK).fit(frame, kinds)
    assert list(classifier.classes_) == ["cheap", "dear"]
    probabilities = classifier.predict_proba(frame)
    assert np.allclose(probabilities.sum(axis=1), 1) and (classifier.predict(frame) == kinds).mean() > 0.9
    logs = classifier.log_density(frame, kinds)
    assert np.allclose(np.exp(logs), probabilities[np.arange(90), (kinds == "dear").astype(int)])


@pytest.mark.parametrize("labels", [[3, 1, 10], [True, False, True], ["b", "a", "c"], [1.0, 2.0, 1.0]])
def test_classes_of_any_type(labels):
    x, _ = waves(60)
    y = np.array(labels)[(x[:, 0] * 0.5).astype(int)]
    model = DeepKernelClassifier(**QUICK).fit(x, y)
    assert model.classes_.dtype == y.dtype and list(model.classes_) == sorted(set(labels))
    assert (model.predict(x) == y).mean() > 0.8


def test_labels_keep_their_texts():
    x, _ = waves(60)
    for labels in (["01", "02"], ["True", "False"], ["+1", "-1"], [10**16, 10**16 + 2]):
        y = np.array(labels)[(x[:, 0] > 3).astype(int)]
        model = DeepKernelClassifier(**QUICK).fit(x, y)
        assert set(model.predict(x)) == set(labels)
    with pytest.raises(ValueError, match='classes "1" and "1.0" are one class to a table'):
        DeepKernelClassifier(**QUICK).fit(x, np.array(["1", "1.0", "2"])[np.arange(60) % 3])


def test_columns_of_every_type():
    rows = 60
    i = np.arange(rows)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(i * 17, unit="D")
    frame = pd.DataFrame(
        {
            "whole": pd.array([None if n % 9 == 2 else n % 13 for n in i], dtype="Int64"),
            "truth": pd.array([None if n % 9 == 3 else n % 2 == 0 for n in i], dtype="boolean"),
            "zoned": pd.DatetimeIndex(days).tz_localize("Europe/Berlin"),
            "wait": pd.to_timedelta(i % 7, unit="min"),
            "money": [decimal.Decimal(int(n)) / 4 for n in i],
            "mixed": [["a", 1.0, True][n % 3] for n in i],
            "day": [d.date() for d in days],
        }
    )
    y = i % 13 + 2.0 * (i % 7)
    model = DeepKernelRegressor(**NUMBERS).fit(frame, y)
    whole = model.predict(frame)
    # a row says the same alone, also where it lacks something
    for n in (2, 3, 11):
        assert np.array_equal(model.predict(frame[n : n + 1]), whole[n : n + 1])
    lacking = frame[:1].assign(day=[None], mixed=[None])
    assert np.isfinite(model.predict(lacking)).all()
    rows_of_lists = [["a", 1.0], ["b", float("nan")], ["a", 3.0], ["b", 4.0]] * 10
    listed = DeepKernelRegressor(**NUMBERS).fit(rows_of_lists, np.arange(40) % 4)
    assert any("lacks 10 values" in n for n in json.loads(listed.model_.card())["notes"])


def test_frames_without_names_are_arrays():
    x, y = waves()
    model = DeepKernelRegressor(**NUMBERS).fit(pd.DataFrame(x), y)
    assert np.array_equal(model.predict(x), model.predict(pd.DataFrame(x)))
    assert model.feature_relevance_.sum() > 0.99


def test_a_loaded_model_finds_its_columns(tmp_path):
    x, y = waves()
    frame = pd.DataFrame({"a": x[:, 0], "same": 1.0, "b": x[:, 1], "y": y})
    model = DeepKernelRegressor(**NUMBERS).fit(frame[["a", "same", "b"]], y)
    model.save(tmp_path / "m.dkp")
    loaded = DeepKernelRegressor.load(tmp_path / "m.dkp")
    assert np.array_equal(loaded.predict(frame), model.predict(frame[["a", "same", "b"]]))
    assert loaded.feature_relevance_.shape == (2,) and pickle.loads(pickle.dumps(loaded)).predict(frame).shape == y.shape
    DeepKernelRegressor(**NUMBERS).fit(x, y).save(tmp_path / "x.dkp")
    assert DeepKernelRegressor.load(tmp_path / "x.dkp").predict(x).shape == y.shape
    with pytest.raises(ValueError, match="prediction_draws must be from 1 to 100000"):
        model.set_params(prediction_draws=10**12).predict(frame[["a", "same", "b"]])
    with pytest.raises(ValueError, match="n_samples must be from 1"):
        model.sample_y(frame[["a", "same", "b"]], 0)


@pytest.mark.skipif(not BINARY.exists() and "DKP_REQUIRE" not in os.environ, reason=f"{BINARY} is not built")
def test_the_command_and_python_have_the_same_bits(tmp_path):
    x, y = waves()
    frame = pd.DataFrame(x, columns=["a", "b"])
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    model = DeepKernelRegressor(**NUMBERS, random_state=3).fit(frame, y)
    flags = "--inducing 15 --steps 80 --start-steps 150 --draws 2 --likelihood gaussian --seed 3 --holdout 0 --quiet"

    def dkp(*arguments):
        return subprocess.run([BINARY, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    dkp("train", "t.csv", "--target", "y", *flags.split())
    dkp("predict", "t.dkp", "t.csv", "--out", "own.csv", "--quiet")
    own = pd.read_csv(tmp_path / "own.csv", float_precision="round_trip")
    mean, std = model.predict(frame, return_std=True)
    assert np.array_equal(own["mean"], mean) and np.array_equal(own["sd"], std)
    assert np.array_equal(own["quantile 0.95"], model.predict_quantiles(frame, 0.95)[:, 0])
    # each opens the other's
    model.save(tmp_path / "python.dkp")
    dkp("predict", "python.dkp", "t.csv", "--out", "python.csv", "--quiet")
    assert (tmp_path / "python.csv").read_text() == (tmp_path / "own.csv").read_text()
    loaded = DeepKernelRegressor.load(tmp_path / "t.dkp")
    assert np.array_equal(loaded.predict(frame), mean) and loaded.report().startswith("<!doctype html>")
    with pytest.raises(ValueError, match="this is a model for DeepKernelRegressor"):
        DeepKernelClassifier.load(tmp_path / "t.dkp")
    with pytest.raises(FileNotFoundError):
        DeepKernelRegressor.load(tmp_path / "none.dkp")
    (tmp_path / "bad.dkp").write_bytes((tmp_path / "t.dkp").read_bytes()[:-9])
    with pytest.raises(ValueError, match="bad.dkp"):
        DeepKernelRegressor.load(tmp_path / "bad.dkp")


def test_copies_are_the_same_model(tmp_path):
    x, y = waves()
    model = DeepKernelRegressor(**NUMBERS).fit(x, y)
    expected = model.predict(x)
    joblib.dump(model, tmp_path / "model.joblib")
    for other in [
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        copy.copy(model),
        copy.deepcopy(model),
        clone(model).fit(x, y),
    ]:
        assert np.array_equal(other.predict(x), expected)
    assert not hasattr(clone(model), "model_") and not hasattr(clone(model), "bound_")
    threads = [DeepKernelRegressor(**NUMBERS, n_jobs=n).fit(x, y).predict(x) for n in (1, 2, -1)]
    assert all(np.array_equal(p, expected) for p in threads)


def test_scikit_learns_tools():
    x, y = waves()
    model = DeepKernelRegressor(**NUMBERS)
    assert cross_val_score(model, x, y, cv=3).min() > 0.8
    search = GridSearchCV(make_pipeline(StandardScaler(), model), {"deepkernelregressor__layers": [0, 1]}, cv=2)
    assert search.fit(x, y).best_score_ > 0.8
    logs = TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp).fit(x, np.exp(y))
    assert np.sqrt(np.mean((np.log(logs.predict(x)) - y) ** 2)) < 0.1
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    classifier = DeepKernelClassifier(**QUICK).fit(x, y > 0)
    display = CalibrationDisplay.from_estimator(classifier, x, y > 0, n_bins=4)
    assert display.prob_pred.min() < 0.2 and display.prob_pred.max() > 0.8
    parallel = joblib.Parallel(n_jobs=2)(joblib.delayed(clone(model).fit)(x, y) for _ in range(2))
    assert np.array_equal(parallel[0].predict(x), parallel[1].predict(x))


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask_predicts_frames_part_by_part(scheduler):
    dataframe = pytest.importorskip("dask.dataframe")
    frame, y = flats()
    model = DeepKernelRegressor(**NUMBERS, n_jobs=1).fit(frame, y)
    parts = dataframe.from_pandas(frame, npartitions=3)
    predicted = parts.map_partitions(predict_part, model, meta=("price", "f8")).compute(scheduler=scheduler)
    assert np.array_equal(predicted, model.predict(frame))


def predict_part(part, model):
    return pd.Series(model.predict(part), index=part.index, name="price")


def test_a_callback_sees_every_step_and_may_end_the_fit():
    x, y = waves()
    seen = []
    model = DeepKernelRegressor(**NUMBERS, callback=lambda event: seen.append(event)).fit(x, y)
    trained = [e for e in seen if e["phase"] == "train"]
    assert [e["step"] for e in trained] == list(range(1, 81)) and {e["steps"] for e in trained} == {80}
    assert all(isinstance(e["bound"], float) for e in trained) and not model.partial_

    def stop(event):
        if event["phase"] == "train" and event["step"] == 5:
            raise RuntimeError("enough")

    model = DeepKernelRegressor(**dict(NUMBERS, steps=100_000), callback=stop)
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(x, y)
    stopped = [n for n in json.loads(model.model_.card())["notes"] if n.startswith("stopped after step")]
    assert model.partial_ and stopped[0].split()[3] in ("5", "6", "7", "8")
    assert model.predict(x).shape == (120,) and model.bound_ is None
    classifier = DeepKernelClassifier(**dict(QUICK, steps=100_000), callback=stop)
    with pytest.raises(RuntimeError, match="enough"):
        classifier.fit(x, y > 0)
    assert classifier.partial_ and classifier.predict_proba(x).shape == (120, 2)
    # whatever goes wrong, an earlier model is gone
    with pytest.raises(ValueError):
        classifier.fit(x * np.inf, y > 0)
    assert not hasattr(classifier, "model_")


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_a_fit_at_once(tmp_path):
    program = textwrap.dedent(
        """
        import numpy as np, sys
        from dkp import DeepKernelRegressor
        x = np.linspace(0, 1, 200)[:, None]
        told = lambda e: e["phase"] == "train" and e["step"] == 3 and print("training", flush=True)
        model = DeepKernelRegressor(inducing=20, steps=10_000_000, start_steps=10, likelihood="gaussian", callback=told)
        try:
            model.fit(x, x[:, 0])
        except KeyboardInterrupt:
            print("interrupted", model.partial_, model.predict(x[:2]).shape, flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "training\n"
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted True (2,)\n"
    assert time.monotonic() - begun < 5 and process.wait(20) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_threads_and_forks():
    x, y = waves()
    model = DeepKernelRegressor(**NUMBERS).fit(x, y)
    expected = model.predict(x)
    classifier = DeepKernelClassifier(**QUICK).fit(x, y > 0)
    probabilities, relevance = classifier.predict_proba(x), model.feature_relevance_
    found = []
    fits = [threading.Thread(target=lambda: found.append(clone(model).fit(x, y).predict(x))) for _ in range(3)]
    for thread in fits:
        thread.start()
    for thread in fits:
        thread.join(60)
    assert len(found) == 3 and all(np.array_equal(p, expected) for p in found)
    child = os.fork()
    if child == 0:
        same = np.array_equal(model.predict(x), expected) and np.array_equal(clone(model).fit(x, y).predict(x), expected)
        same &= np.array_equal(model.feature_relevance_, relevance) and len(model.report()) > 1000
        same &= np.array_equal(clone(classifier).fit(x, y > 0).predict_proba(x), probabilities)
        os._exit(0 if same else 1)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
    assert done and os.waitstatus_to_exitcode(status) == 0


X, Y = waves(30)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.full((30, 2), 1.0), Y, "varies over the training rows"),
        (X, np.full(30, 2.0), "is 2 in all training rows"),
        (np.where(X > 5, np.inf, X), Y, "infinity"),
        (X, np.where(Y > 0, np.inf, Y), "infinity"),
        (X, np.where(Y > 0, np.nan, Y), "NaN"),
        (X, Y[:20], "inconsistent numbers of samples"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (X[0], Y, "1D array"),
        (pd.DataFrame(X, columns=["a", "a"]), Y, "'a'"),
        (pd.DataFrame({"a": [f"text {i}" for i in range(30)], "b": X[:, 0]}), Y, "column \"a\""),
        (pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, np.inf, 0)}), Y, "column 'b'"),
        (X, ["a", "b"] * 15, "could not convert"),
    ],
)
def test_bad_tables_are_refused(x, y, message):
    with pytest.raises(ValueError, match=message):
        DeepKernelRegressor(**NUMBERS).fit(x, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(kernel="squexp"), "kernel"),
        (dict(family="dkm"), "family"),
        (dict(likelihood="bernoulli"), "likelihood"),
        (dict(holdout=1.5), "holdout must be at least 0 and less than 1"),
        (dict(inducing=0), "inducing must be from 1"),
        (dict(rate=-1.0), "rate must be positive"),
        (dict(parameters={"none": 1.0}), "none"),
        (dict(layers="two"), "invalid type"),
        (dict(n_jobs=0), "threads must be from 1"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        DeepKernelRegressor(**dict(NUMBERS, **settings)).fit(X, Y)


def test_huge_and_odd_numbers_never_end_the_interpreter():
    rng = np.random.default_rng(0)
    for scale in (1e-300, 1e-12, 1e150, 1e308):
        try:
            model = DeepKernelRegressor(**dict(NUMBERS, steps=3)).fit(scale * rng.normal(size=(40, 2)).clip(-1, 1), Y[:1].repeat(40) + rng.normal(size=40))
            model.predict(np.full((2, 2), 1e308))
        except ValueError as error:
            assert str(error)
    with pytest.raises(ValueError, match="NotFitted|not fitted"):
        DeepKernelRegressor().predict(X)


def test_reports(tmp_path):
    x, y = waves()
    model = DeepKernelRegressor(**NUMBERS, holdout=0.2)
    assert "DeepKernelRegressor" in model._repr_html_() and "<iframe" not in model._repr_html_()
    model.fit(x, y)
    page = model.report(tmp_path / "model.html")
    assert (tmp_path / "model.html").read_text(encoding="utf-8") == page and page.count("<svg") > 5
    assert model.evaluation_["rows"] == 24 and "<iframe srcdoc=" in model._repr_html_()
    assert set(model._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_progress_is_told(capfd):
    x, y = waves()
    DeepKernelRegressor(**NUMBERS, verbose=True).fit(x, y)
    assert "train 80 of 80: bound " in capfd.readouterr().err
