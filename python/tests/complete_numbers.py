"""Store the scores of complete tables of numbers, for test_tables.py.

Made once by the version before tables with categories and gaps; the scores must keep their bits.
To be run with that version installed: ``python tests/complete_numbers.py``.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np

import lossdepth
from lossdepth._function import METHODS

PATH = Path(__file__).parent / "data" / "complete_numbers.json"

# What is not default has to be said, so that a change of a default does not look like one of bits.
CASES = {
    name: [{"scale": "none"}, {"scale": "standard"}, {"scale": "robust"}] for name in METHODS
} | {
    "forest": [{"scale": "none"}, {"scale": "none", "rotations": 3}, {"scale": "mcd"}],
    "svm": [{"scale": "none"}, {"scale": "mcd", "kernel": "laplacian", "reg": 0.01}],
    "mlp": [{"scale": "none", "hidden": (20,)}, {"scale": "standard", "hidden": (20,)}],
}


def tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a sample, weights and queries; from sums, so that they are the same everywhere."""
    rng = np.random.default_rng(20)
    sample = rng.integers(-40, 41, size=(60, 4)) / 8.0
    sample[:, 3] = np.round(sample[:, 3] + 2 * sample[:, 0])
    queries = rng.integers(-80, 81, size=(12, 4)) / 8.0
    return sample, rng.integers(1, 4, size=60).astype(float), queries


def features() -> list[str]:
    """Return what of the processor may decide about the last bits."""
    from numpy._core._multiarray_umath import __cpu_features__ as known  # noqa: PLC0415

    return sorted(name for name, there in known.items() if there and "_" not in name)


def scores(method: str, settings: dict[str, object]) -> dict[str, list[float]]:
    """Return the depths of the queries, without weights and with them, and their errors."""
    sample, weights, queries = tables()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = METHODS[method](**settings).fit(sample).score_details(queries)
        weighted = METHODS[method](**settings).fit(sample, sample_weight=weights)
        return {
            "depth": plain.depth.tolist(),
            "error": plain.error.tolist(),
            "weighted": weighted.score_samples(queries).tolist(),
        }


if __name__ == "__main__":
    found = [
        {"method": method, "settings": settings} | scores(method, settings)
        for method in METHODS
        for settings in CASES[method]
    ]
    text = json.dumps(
        {"version": lossdepth.__version__, "features": features(), "scores": found}, indent=1
    )
    PATH.write_text(text + "\n", encoding="utf-8")
