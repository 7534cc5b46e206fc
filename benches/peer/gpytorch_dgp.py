"""A training step of a deep Gaussian process in GPyTorch: layers of width 13 with squared-exponential kernels, M inducing points a
layer, S samples, float64, full batch, on synthetic data of boston's shape. Prints {"ms_per_step": …}.

    pip install torch gpytorch
    python3 benches/peer/gpytorch_dgp.py [--hidden 2] [--width 13] [--m 100] [--s 10] [--steps 20]"""
import argparse
import json
import time

import gpytorch
import torch
from gpytorch.models.deep_gps import DeepGP, DeepGPLayer
from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy

ROWS, FEATURES = 455, 13


class Layer(DeepGPLayer):
    def __init__(self, inputs, outputs, m):
        batch = torch.Size([outputs]) if outputs else torch.Size([])
        points = torch.randn(*batch, m, inputs)
        strategy = VariationalStrategy(self, points, CholeskyVariationalDistribution(m, batch), learn_inducing_locations=True)
        super().__init__(strategy, inputs, outputs)
        self.mean = gpytorch.means.ConstantMean(batch_shape=batch)
        kernel = gpytorch.kernels.RBFKernel(batch_shape=batch)
        self.kernel = gpytorch.kernels.ScaleKernel(kernel, batch_shape=batch)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


class Model(DeepGP):
    def __init__(self, hidden, width, m):
        super().__init__()
        sizes = [FEATURES] + [width] * hidden
        self.hidden = torch.nn.ModuleList(Layer(a, b, m) for a, b in zip(sizes, sizes[1:]))
        self.last = Layer(sizes[-1], None, m)
        self.likelihood = gpytorch.likelihoods.GaussianLikelihood()

    def forward(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.last(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=2)
    parser.add_argument("--width", type=int, default=13)
    parser.add_argument("--m", type=int, default=100)
    parser.add_argument("--s", type=int, default=10)
    parser.add_argument("--steps", type=int, default=20)
    a = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    x = torch.randn(ROWS, FEATURES)
    y = torch.sin(x.sum(1)) + 0.1 * torch.randn(ROWS)
    model = Model(a.hidden, a.width, a.m)
    elbo = gpytorch.mlls.VariationalELBO(model.likelihood, model, ROWS)
    objective = gpytorch.mlls.DeepApproximateMLL(elbo)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)

    def step():
        with gpytorch.settings.num_likelihood_samples(a.s):
            optimiser.zero_grad()
            loss = -objective(model(x), y)
            loss.backward()
            optimiser.step()

    for _ in range(3):
        step()
    begun = time.perf_counter()
    for _ in range(a.steps):
        step()
    print(json.dumps({"ms_per_step": 1e3 * (time.perf_counter() - begun) / a.steps}))


if __name__ == "__main__":
    main()
