"""The command line, scikit-learn and this package must agree on real data, standardised.

The ODDS files are used where ``LOSSDEPTH_DATA`` names their folder, and what ships with
scikit-learn besides.
"""

import csv
import io
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from lossdepth import LogisticDepth

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("LOSSDEPTH_BIN", ROOT / "target" / "release" / "lossdepth"))
DATA = os.environ.get("LOSSDEPTH_DATA")


def tables():
    """Yield names and rows."""
    yield "wine", load_wine().data
    yield "breast cancer", load_breast_cancer().data
    if DATA:
        for name in ("glass", "vowels", "pima", "lympho", "breastw"):
            yield name, loadmat(Path(DATA) / "odds" / f"{name}.mat")["X"].astype(float)


def score(rows, *options):
    """Run the program and return its columns depth, error, stderr."""
    text = io.StringIO()
    csv.writer(text).writerows([[f"c{j}" for j in range(rows.shape[1])], *rows.tolist()])
    method = () if "--method" in options else ("--method", "logistic")
    done = subprocess.run(
        [PROGRAM, "score", "-", "--quiet", *method, *options],
        input=text.getvalue(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    return np.array([[float(line[c]) for c in ("depth", "error", "stderr")] for line in lines])


def scikit_learn(rows, query, reg):
    """Return risk and objective by scikit-learn, polished by Newton steps to rounding."""
    n = len(rows)
    points = np.vstack([rows, query])
    y = np.r_[np.ones(n), np.zeros(1)]
    weight = np.r_[np.full(n, 0.5 / n), 0.5]
    fit = LogisticRegression(
        C=1 / (2 * reg * np.log(2)), solver="newton-cholesky", tol=1e-12, max_iter=10_000
    ).fit(points, y, sample_weight=weight)
    design = np.c_[points, np.ones(n + 1)]
    theta = np.r_[fit.coef_[0], fit.intercept_]
    penalty = np.r_[np.full(rows.shape[1], 2 * reg), 0.0]
    sign = 2 * y - 1
    for _ in range(3):
        p = expit(-sign * (design @ theta))
        gradient = -design.T @ (weight * sign * p) / np.log(2) + penalty * theta
        hessian = (design.T * (weight * p * (1 - p) / np.log(2))) @ design + np.diag(penalty)
        theta = theta - np.linalg.solve(hessian, gradient)
    risk = weight @ np.logaddexp(0, -sign * (design @ theta)) / np.log(2)
    return risk, risk + reg * theta[:-1] @ theta[:-1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("reg", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize(
    ("name", "rows"), list(tables()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_program_agrees_with_scikit_learn(name, rows, reg):
    """Within the certified error, which is at most 1e-6 by default."""
    rows = StandardScaler().fit_transform(rows)
    risk = score(rows, "--method", "logistic", "--reg", str(reg))
    objective = score(rows, "--method", "logistic", "--reg", str(reg), "--variant", "objective")
    assert max(risk[:, 1].max(), objective[:, 1].max()) <= 1e-6
    for i in np.linspace(0, len(rows) - 1, 4).astype(int):
        witness = scikit_learn(rows, rows[i], reg)
        for ours, theirs in zip((risk[i], objective[i]), witness, strict=True):
            assert abs(ours[0] - theirs) <= ours[1] + 1e-9, (name, i)


def test_program_and_package_give_the_same_bits():
    """Numbers survive the trip through text."""
    rows = StandardScaler().fit_transform(load_wine().data)
    details = LogisticDepth(reg=0.1, scale="mcd").fit(rows).score_details(rows)
    ours = score(rows, "--reg", "0.1", "--scale", "mcd")
    np.testing.assert_array_equal(ours[:, 0], details.depth)
    np.testing.assert_array_equal(ours[:, 1], details.error)
    np.testing.assert_array_equal(ours[:, 2], details.stderr)
