"""Training steps of dkp beside those of the PyTorch baseline in peer/, on the same cores, in turn.

    pip install torch gpytorch
    cargo build --release
    DKP_UCI=.../uci python3 benches/compare.py [--threads 2] [--steps 60]

The baseline needs the boston set (DKP_UCI); dkp measures synthetic data of the same shape. Deep Gaussian processes stand beside GPyTorch's, if
that is installed. Prints one line a problem: milliseconds of both and their ratio."""
import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# family, our posterior (the baseline has the paper's), kernel, inverse-Wishart layers after the input's
PROBLEMS = [("diwp", posterior, kernel, layers) for kernel, layers in [("sqexp", 1), ("relu", 1), ("sqexp", 2)] for posterior in ["whitened", "paper"]]
PROBLEMS += [("nngp", "exact", "sqexp", 1)]
# hidden layers of width 13
DEEP_GPS = [("dgp", "shared", "sqexp", 2), ("dgp", "shared", "sqexp", 3)]
ROUNDS = 10


def ours(family, posterior, kernel, layers, threads):
    command = [ROOT / "target/release/dkp", "bench", "--json", "--problem", "boston", "--family", family, "--posterior", posterior]
    command += ["--kernel", kernel, "--layers", str(layers), "--threads", str(threads)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["ms_per_step"]


def baseline(family, kernel, layers, threads, steps, data):
    peer = [sys.executable, "-W", "ignore"]
    if family == "dgp":
        command = peer + [ROOT / "benches/peer/gpytorch_dgp.py", "--hidden", str(layers), "--steps", "5"]
    else:
        command = peer + [ROOT / "benches/peer/torch_dkp.py", "--data", data, "--quiet", "1", "--dataset", "boston"]
        command += ["--model", family, "--kernel", kernel, "--layers", str(layers), "--steps", str(steps)]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return json.loads(out.strip().splitlines()[-1])["ms_per_step"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    data = os.environ.get("DKP_UCI") or sys.exit("set DKP_UCI to the folder of the UCI sets")
    print(f"{'boston, M 100, S 10':36} {'dkp ms':>8} {'torch ms':>9} {'ratio':>6}")
    for family, posterior, kernel, layers in PROBLEMS + (DEEP_GPS if importlib.util.find_spec("gpytorch") else []):
        # the best of each, taken in turn: neighbours on the machine only ever slow a run down, and not for long
        own, other = float("inf"), float("inf")
        for _ in range(ROUNDS):
            own = min(own, ours(family, posterior, kernel, layers, arguments.threads))
            other = min(other, baseline(family, kernel, layers, arguments.threads, arguments.steps, data))
        print(f"{f'{family} {posterior} {kernel}, {layers} layer(s)':36} {own:8.2f} {other:9.1f} {other / own:6.1f}", flush=True)


if __name__ == "__main__":
    main()
