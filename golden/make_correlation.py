"""Golden values for rank correlations and for the densities of Gaussian mixtures.

Run from this folder:

    python make_correlation.py

Writes correlation.json: lists with and without ties, and what scipy.stats.kendalltau (tau-b) and spearmanr say of them;
points, and the logarithm of the density of a mixture there by scipy.stats.multivariate_normal and logsumexp.
"""

import json
import platform

import numpy as np
import scipy
from scipy.special import logsumexp
from scipy.stats import kendalltau, multivariate_normal, spearmanr

VERSIONS = {
    "python": platform.python_version(),
    "numpy": np.__version__,
    "scipy": scipy.__version__,
}


def pair(a, b):
    return {
        "a": a.tolist(),
        "b": b.tolist(),
        "kendall": float(kendalltau(a, b).statistic),
        "spearman": float(spearmanr(a, b).statistic),
    }


def mixture(rng, width):
    parts = [
        {"share": 0.7, "mean": rng.normal(size=width).tolist(), "sd": 0.5},
        {"share": 0.3, "mean": (4 * rng.normal(size=width)).tolist(), "sd": 2.0},
    ]
    points = np.vstack([3 * rng.normal(size=(8, width)), np.full((1, width), 200.0)])
    terms = [
        np.log(part["share"])
        + multivariate_normal(part["mean"], part["sd"] ** 2 * np.eye(width)).logpdf(
            points
        )
        for part in parts
    ]
    return {
        "parts": parts,
        "points": points.tolist(),
        "log_density": logsumexp(terms, axis=0).tolist(),
    }


rng = np.random.default_rng(0)
pairs = []
for n, levels in [(2, 0), (3, 0), (10, 0), (10, 3), (100, 0), (100, 5), (257, 2)]:
    a = rng.normal(size=n)
    b = 0.6 * a + rng.normal(size=n)
    if levels:
        a, b = np.floor(levels * a), np.floor(levels * b)
    pairs.append(pair(a, b))
    pairs.append(pair(a, -b))
pairs.append(pair(np.arange(5.0), np.array([1.0, 1.0, 2.0, 2.0, 1.0])))

with open("correlation.json", "w") as file:
    mixtures = [mixture(rng, width) for width in (1, 2, 5)]
    json.dump({"versions": VERSIONS, "pairs": pairs, "mixtures": mixtures}, file)
    file.write("\n")
