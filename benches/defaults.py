"""What default runs give: `dkp train` on splits of the UCI sets, with no setting that knows the set.

    cargo build --release
    DKP_UCI=.../uci python3 benches/defaults.py FOLDER [--sets yacht,boston] [--splits 0-4] [--threads 2] [--validate] [-- FLAG …]

One JSON line a run goes to FOLDER/results.jsonl; runs that are there are not done again, and a table of all of them ends the output.
With --validate a tenth of the training rows takes the test rows' place, as it must where a choice is made. What stands after -- is handed
to `dkp train`."""
import argparse
import csv
import json
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import time

BINARY = os.environ.get("DKP_BINARY") or pathlib.Path(__file__).resolve().parent.parent / "target/release/dkp"
SETS = ["yacht", "boston", "energy", "concrete", "wine", "kin8nm", "power", "naval", "protein"]


def numbers(path):
    return [[float(v) for v in line.split()] for line in path.read_text().splitlines() if line.strip()]


def tables(folder, data, name, split, validate):
    """CSV files of the rows to learn from and to be judged on."""
    source = data / name
    rows = numbers(source / "data.txt")
    features, targets = ([int(v[0]) for v in numbers(source / f"index_{part}.txt")] for part in ["features", "target"])
    parts = [[int(v[0]) for v in numbers(source / f"index_{part}_{split}.txt")] for part in ["train", "test"]]
    if validate:
        train = parts[0][:]
        random.Random(split).shuffle(train)
        parts = [train[len(train) // 10:], train[:len(train) // 10]]
    paths = []
    for part, chosen in zip(["train", "test"], parts):
        paths.append(folder / f"{name}-{split}-{part}.csv")
        with open(paths[-1], "w", newline="") as file:
            out = csv.writer(file)
            out.writerow([f"x{i}" for i in range(len(features))] + ["y"])
            out.writerows([repr(rows[r][c]) for c in features + targets[:1]] for r in chosen)
    return paths


def core_seconds():
    """What programs that have ended used of processors, whatever else ran on the machine."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def run(folder, arguments, flags, name, split):
    train, test = tables(folder, pathlib.Path(os.environ["DKP_UCI"]), name, split, arguments.validate)
    model = folder / f"{name}-{split}.dkp"
    command = [BINARY, "train", train, "--target", "y", "--test", test, "--out", model, "--force"]
    begun, used = time.time(), core_seconds()
    done = subprocess.run(command + ["--threads", str(arguments.threads)] + flags, capture_output=True, text=True)
    seconds, used = time.time() - begun, core_seconds() - used
    if done.returncode != 0:
        sys.exit(f"{name}, split {split}: {done.stderr}")
    card = json.loads(subprocess.run([BINARY, "inspect", "--json", model], check=True, capture_output=True, text=True).stdout)
    steps = [json.loads(line) for line in model.with_suffix(".run").joinpath("metrics.jsonl").read_text().splitlines()]
    trouble = [sum(s["failure"] is not None for s in steps), sum(s["rolled_back"] for s in steps), sum(s["jitter"] for s in steps)]
    return {"set": name, "split": split, "flags": flags, "validate": arguments.validate, "seconds": round(seconds), "core_seconds": round(used), "trouble": trouble, "card": card, "said": done.stderr}


def summary(lines):
    """A line a set: means over its splits, with their standard error."""
    print(f"{'set':9} {'splits':>6} {'log-likelihood':>16} {'in 90 %':>8} {'bound':>8} {'seconds':>8} {'of cores':>8} {'trouble':>8}  each split")
    for name in sorted({line["set"] for line in lines}, key=SETS.index):
        own = sorted((line for line in lines if line["set"] == name), key=lambda line: line["split"])
        each = [line["card"]["evaluation"]["log_likelihood"] for line in own]
        error = statistics.stdev(each) / len(each) ** 0.5 if len(each) > 1 else float("nan")
        inside = statistics.mean(line["card"]["evaluation"]["coverage"]["90%"] for line in own)
        bound = statistics.mean(line["card"]["bound"]["total"] for line in own)
        seconds, used = (statistics.mean(line[key] for line in own) for key in ["seconds", "core_seconds"])
        trouble = sum(sum(line["trouble"]) for line in own)
        print(f"{name:9} {len(own):6} {statistics.mean(each):8.3f} ± {error:.3f} {100 * inside:6.1f} % {bound:8.3f} {seconds:8.0f} {used:8.0f} {trouble:8}  {' '.join(f'{v:.3f}' for v in each)}")


def main():
    own, flags = (sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]) if "--" in sys.argv else (sys.argv[1:], [])
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", default="0-4")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--validate", action="store_true")
    arguments = parser.parse_args(own)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = arguments.folder / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    if any((line["flags"], line["validate"]) != (flags, arguments.validate) for line in lines):
        sys.exit(f"{results} has runs with other flags: give another folder")
    first, last = (int(s) for s in (arguments.splits.split("-") * 2)[:2])
    for name in arguments.sets.split(","):
        for split in range(first, last + 1):
            if any((line["set"], line["split"]) == (name, split) for line in lines):
                continue
            lines.append(run(arguments.folder, arguments, flags, name, split))
            with open(results, "a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
    summary(lines)


if __name__ == "__main__":
    main()
