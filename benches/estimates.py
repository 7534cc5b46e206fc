"""The time that `dkp train` tells at its beginning beside the time that it takes, on made-up tables of numbers and classes.

    cargo build --release
    python3 benches/estimates.py FOLDER [--rows 100,1000] [--threads 2] [-- FLAG …]

One JSON line a run goes to FOLDER/estimates.jsonl, and a table of them ends the output. Nothing else should run meanwhile."""
import argparse
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import time

BINARY = os.environ.get("DKP_BINARY") or pathlib.Path(__file__).resolve().parent.parent / "target/release/dkp"
TABLES = [("numbers", 100, 5), ("numbers", 1_000, 8), ("classes", 1_000, 8), ("numbers", 10_000, 10), ("classes", 10_000, 10), ("numbers", 100_000, 10)]


def write(path, kind, rows, features):
    """A table whose target is a smooth function of its features with noise, or its sign and size as one of three classes."""
    chance = random.Random(rows)
    with open(path, "w") as file:
        file.write(",".join(f"x{i}" for i in range(features)) + ",y\n")
        for _ in range(rows):
            x = [chance.gauss(0, 1) for _ in range(features)]
            y = math.sin(2 * x[0]) + x[1] * x[2] + 0.3 * x[3] + 0.3 * chance.gauss(0, 1)
            told = f"{y:.5f}" if kind == "numbers" else ["low", "middle", "high"][(y > -0.5) + (y > 0.5)]
            file.write(",".join(f"{v:.5f}" for v in x) + f",{told}\n")


def seconds(text):
    """What a time such as "95 s" or "12 min" is in seconds."""
    number, unit = re.match(r"about (less than a|[\d.]+) (second|s|min|h)\b", text).groups()
    return {"second": 1, "s": 1, "min": 60, "h": 3600}[unit] * (1 if number == "less than a" else float(number))


def main():
    own, flags = (sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]) if "--" in sys.argv else (sys.argv[1:], [])
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", default="")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args(own)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    wanted = [int(rows) for rows in arguments.rows.split(",") if rows]
    lines = []
    for kind, rows, features in TABLES:
        if wanted and rows not in wanted:
            continue
        table = arguments.folder / f"{kind}-{rows}.csv"
        write(table, kind, rows, features)
        begun = time.time()
        command = [BINARY, "train", table, "--target", "y", "--force", "--threads", str(arguments.threads)]
        done = subprocess.run(command + flags, capture_output=True, text=True)
        taken = time.time() - begun
        if done.returncode != 0:
            sys.exit(done.stderr)
        told = next(line for line in done.stderr.splitlines() if line.startswith("about "))
        lines.append({"kind": kind, "rows": rows, "told": seconds(told), "taken": round(taken, 1), "line": told})
        with open(arguments.folder / "estimates.jsonl", "a") as file:
            file.write(json.dumps(lines[-1]) + "\n")
    print(f"{'':8} {'rows':>8} {'told':>8} {'taken':>8} {'ratio':>6}")
    for line in lines:
        print(f"{line['kind']:8} {line['rows']:8} {line['told']:6.0f} s {line['taken']:6.0f} s {line['told'] / line['taken']:6.2f}   {line['line']}")


if __name__ == "__main__":
    main()
