"""How well planted errors are found in tables with categories and gaps, beside imputation.

    python benchmarks/mixed.py [--seeds 5] [--markdown FILE]

Eleven tables: four that scikit-learn ships, with their class as a category, and seven simulated
ones whose columns depend on each other. In two rows of a hundred (at least five) one value is made
wrong: a number ten times too large, with its sign changed, far off, or taken from another row; a
level misspelt, or taken from a row that has another one. Then a tenth of all other cells is
removed. All rows are compared with all. `AutoDepth` takes the data frame as it is; the peers take
medians and the most frequent levels (`SimpleImputer`), levels as columns of zeros and ones, and
standardised numbers. Needs pandas and scikit-learn.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import lossdepth
import numpy as np
import pandas as pd
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

if TYPE_CHECKING:
    from collections.abc import Callable

Random = np.random.Generator
ERRORS = 0.02
REMOVED = 0.1


def shipped(load: Callable[..., object], columns: int) -> pd.DataFrame:
    """Return the first columns of a table of scikit-learn, with the class as a category."""
    data = load(as_frame=True)
    return data.data.iloc[:, :columns].assign(group=data.target_names[data.target].astype(str))


def wine(_: Random) -> pd.DataFrame:
    """Thirteen measurements of wines of three growers."""
    return shipped(load_wine, 13)


def cancer(_: Random) -> pd.DataFrame:
    """Ten mean measurements of cells, benign and malignant."""
    return shipped(load_breast_cancer, 10)


def iris(_: Random) -> pd.DataFrame:
    """Four measurements of three species."""
    return shipped(load_iris, 4)


def diabetes(_: Random) -> pd.DataFrame:
    """Ten measurements of patients in their own units, one of them the sex."""
    data = load_diabetes(as_frame=True, scaled=False)
    return data.data.assign(sex=data.data["sex"].map({1.0: "a", 2.0: "b"}), target=data.target)


def orders(random: Random) -> pd.DataFrame:
    """Orders of a shop: the amount is quantity times price."""
    n, prices = 900, {"lamp": 27.0, "chair": 64.0, "desk": 189.0, "shelf": 92.0, "rug": 45.0}
    product = random.choice(list(prices), n, p=[0.35, 0.25, 0.1, 0.15, 0.15])
    quantity = 1 + random.poisson(8, n)
    price = np.round(pd.Series(product).map(prices) * np.exp(random.normal(0, 0.08, n)), 2)
    channel = random.choice(["web", "shop", "phone"], n, p=[0.6, 0.3, 0.1])
    days = np.round(random.gamma(3.2, 5.5, n) + 6.0 * (channel == "phone"))
    return pd.DataFrame(
        {
            "product": product,
            "channel": channel,
            "quantity": quantity,
            "price": price,
            "amount": np.round(quantity * price, 2),
            "days": days,
        }
    )


def patients(random: Random) -> pd.DataFrame:
    """Patients: weight goes with height, pressure with age, the ward with both."""
    n, sex = 600, random.choice(["female", "male"], 600)
    age = random.uniform(18, 90, n).round()
    height = random.normal(np.where(sex == "male", 178, 165), 7).round()
    weight = ((height / 100) ** 2 * random.normal(25, 3, n)).round(1)
    pressure = (95 + 0.6 * age + random.normal(0, 9, n)).round()
    ward = np.where(age > 70, "geriatric", random.choice(["surgery", "internal", "heart"], n))
    smoker = random.choice(["yes", "no"], n, p=[0.2, 0.8])
    pulse = random.normal(70, 9, n).round()
    names = ["sex", "age", "height", "weight", "pressure", "pulse", "ward", "smoker"]
    return pd.DataFrame(
        dict(zip(names, [sex, age, height, weight, pressure, pulse, ward, smoker], strict=True))
    )


def machines(random: Random) -> pd.DataFrame:
    """Return readings of machines in three states."""
    n, state = 1200, random.choice(["idle", "run", "full"], 1200, p=[0.3, 0.5, 0.2])
    load = pd.Series(state).map({"idle": 5.0, "run": 55.0, "full": 92.0}).to_numpy()
    load = load + random.normal(0, 4, n)
    machine = random.choice(["A", "B", "C", "D", "E", "F"], n)
    offset = pd.Series(machine).map(dict(zip("ABCDEF", [0, 2, -1, 4, 1, -3], strict=True)))
    temperature = 20 + 0.5 * load + offset + random.normal(0, 1.5, n)
    pressure = 1 + 0.04 * load + random.normal(0, 0.1, n)
    vibration = np.exp(0.02 * load + random.normal(-1, 0.3, n))
    current = 0.2 * load + random.normal(0, 0.5, n)
    return pd.DataFrame(
        {
            "machine": machine,
            "state": state,
            "load": load,
            "temperature": temperature,
            "pressure": pressure,
            "vibration": vibration,
            "current": current,
        }
    )


def payroll(random: Random) -> pd.DataFrame:
    """Pay slips: gross is hours times rate, tax a share of it."""
    n = 800
    grade = random.choice(["junior", "senior", "lead"], n, p=[0.5, 0.35, 0.15])
    department = random.choice([f"D{k:02}" for k in range(12)], n)
    rate = pd.Series(grade).map({"junior": 18.0, "senior": 31.0, "lead": 48.0}).to_numpy()
    rate = (rate * np.exp(random.normal(0, 0.07, n))).round(2)
    hours = np.clip(random.normal(155, 14, n), 40, 200).round()
    gross = (hours * rate).round(2)
    tax = (gross * random.normal(0.24, 0.02, n)).round(2)
    contract = np.where(hours > 140, "full time", "part time")
    return pd.DataFrame(
        {
            "grade": grade,
            "department": department,
            "contract": contract,
            "hours": hours,
            "rate": rate,
            "gross": gross,
            "tax": tax,
        }
    )


def flights(random: Random) -> pd.DataFrame:
    """Flights: time goes with distance, fuel with the type of aircraft."""
    n, places = 1000, 15
    to = random.integers(0, places, n)
    distance = np.exp(np.linspace(5.6, 8.6, places))[to] * np.exp(random.normal(0, 0.01, n))
    aircraft = np.where(distance > 2500, "wide", random.choice(["narrow", "regional"], n))
    speed = pd.Series(aircraft).map({"wide": 880, "narrow": 800, "regional": 650}).to_numpy()
    minutes = 35 + 60 * distance / speed + random.normal(0, 6, n)
    seats = pd.Series(aircraft).map({"wide": 300, "narrow": 170, "regional": 70}).to_numpy()
    passengers = random.binomial(seats, 0.83)
    fuel = distance * (2 + 0.02 * seats) * np.exp(random.normal(0, 0.06, n))
    delay = random.exponential(14, n) - 5
    return pd.DataFrame(
        {
            "to": [f"P{k}" for k in to],
            "aircraft": aircraft,
            "distance": distance,
            "minutes": minutes,
            "passengers": passengers,
            "fuel": fuel,
            "delay": delay,
        }
    )


def survey(random: Random) -> pd.DataFrame:
    """Answers on scales of five, driven by two attitudes, with age and income."""
    n, words = 700, np.array(["never", "seldom", "at times", "often", "always"])
    attitude = random.normal(size=(n, 2))
    answers = {
        f"q{k + 1}": words[
            np.clip(np.round(2 + 1.1 * attitude[:, k % 2] + random.normal(0, 0.5, n)), 0, 4).astype(
                int
            )
        ]
        for k in range(6)
    }
    age = np.clip(45 + 12 * attitude[:, 0] + random.normal(0, 8, n), 18, 95).round()
    income = np.exp(10.3 + 0.4 * attitude[:, 1] + random.normal(0, 0.3, n)).round(-2)
    return pd.DataFrame({**answers, "age": age, "income": income})


def houses(random: Random) -> pd.DataFrame:
    """Houses: the price goes with area, district and kind."""
    n = 1000
    kind = random.choice(["flat", "terraced", "detached"], n, p=[0.6, 0.25, 0.15])
    district = random.choice([f"district {k}" for k in range(8)], n)
    level = np.linspace(7.2, 8.6, 8)[[int(name[-1]) for name in district]]
    typical = pd.Series(kind).map({"flat": 70, "terraced": 110, "detached": 160}).to_numpy()
    area = (typical * np.exp(random.normal(0, 0.25, n))).round()
    rooms = np.maximum(1, np.round(area / 28 + random.normal(0, 0.5, n)))
    price = (area * np.exp(level + random.normal(0, 0.12, n))).round(-2)
    year = 2020 - random.exponential(35, n).round()
    return pd.DataFrame(
        {
            "kind": kind,
            "district": district,
            "area": area,
            "rooms": rooms,
            "price": price,
            "year": year,
        }
    )


TABLES = [
    wine,
    cancer,
    iris,
    diabetes,
    orders,
    patients,
    machines,
    payroll,
    flights,
    survey,
    houses,
]


def wrong(frame: pd.DataFrame, row: int, random: Random) -> int:
    """Make one value of the row wrong, and return its column."""
    while True:
        j = int(random.integers(frame.shape[1]))
        column, value = frame.iloc[:, j], frame.iloc[row, j]
        other = column.iloc[int(random.integers(len(column)))]
        if isinstance(value, str):
            new = value + "x" if random.random() < 0.5 else other
            if new == value:
                continue
        else:
            spread = float(np.subtract(*np.quantile(column, [0.84, 0.16])) / 2)
            far = value + random.choice([-1, 1]) * random.uniform(4, 12) * spread
            new = random.choice([10 * value, -value, far, other])
            if abs(new - value) <= spread:
                continue
        frame.iloc[row, j] = new
        return j


def corrupted(frame: pd.DataFrame, random: Random) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the table with wrong values and gaps, and which rows are wrong."""
    frame = frame.astype(dict.fromkeys(frame.select_dtypes("number"), float))
    frame = frame.astype(dict.fromkeys(frame.select_dtypes(exclude="number"), object))
    rows = random.choice(len(frame), max(5, round(ERRORS * len(frame))), replace=False)
    gaps = random.random(frame.shape) < REMOVED
    for row in rows:
        gaps[row, wrong(frame, int(row), random)] = False
    labels = np.zeros(len(frame), int)
    labels[rows] = 1
    return frame.mask(gaps), labels


def encoded(frame: pd.DataFrame) -> np.ndarray:
    """Impute, standardise and encode as users of scikit-learn do."""
    numbers = list(frame.select_dtypes("number"))
    others = [name for name in frame if name not in numbers]
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    steps = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), levels), others),
    )
    return steps.fit_transform(frame.where(frame.notna(), np.nan))


def forest(frame: pd.DataFrame, seed: int) -> np.ndarray:
    """Score by an isolation forest: high is normal."""
    data = encoded(frame)
    return IsolationForest(random_state=seed).fit(data).score_samples(data)


def factor(frame: pd.DataFrame, _: int) -> np.ndarray:
    """Score by local outlier factors: high is normal."""
    return LocalOutlierFactor().fit(encoded(frame)).negative_outlier_factor_


def auto(frame: pd.DataFrame, _: int) -> np.ndarray:
    """Score by the default depth."""
    return lossdepth.AutoDepth().fit(frame).score_samples(frame)


METHODS = {"auto": auto, "impute + IsolationForest": forest, "impute + LOF": factor}


def first(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the share of wrong rows among as many lowest scores."""
    order = np.argsort(scores, kind="stable")
    return float(labels[order[: labels.sum()]].mean())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    versions = f"scikit-learn {sklearn.__version__}, pandas {pd.__version__}"
    lines = [
        "| table | rows | " + " | ".join(METHODS) + " |",
        "|---|---:|" + "---:|" * len(METHODS),
    ]
    means: list[list[list[float]]] = []
    seconds = dict.fromkeys(METHODS, 0.0)
    for make in TABLES:
        figures = []
        for seed in range(arguments.seeds):
            random = np.random.default_rng([seed, len(means)])
            frame, labels = corrupted(make(random), random)
            figures.append([])
            for name, score in METHODS.items():
                begin = time.perf_counter()
                scores = score(frame, seed)
                seconds[name] += time.perf_counter() - begin
                figures[-1].append([roc_auc_score(labels, -scores), first(labels, scores)])
        means.append(np.mean(figures, axis=0).tolist())
        cells = [f"{auc:.3f} ({share:.2f})" for auc, share in means[-1]]
        lines.append(f"| {make.__name__} | {len(frame)} | " + " | ".join(cells) + " |")
    cells = [f"**{auc:.3f}** ({share:.2f})" for auc, share in np.mean(means, axis=0)]
    lines.append("| mean | | " + " | ".join(cells) + " |")
    lines.append("| seconds | | " + " | ".join(f"{seconds[name]:.1f}" for name in METHODS) + " |")
    text = "\n".join(lines) + "\n"
    if arguments.markdown:
        arguments.markdown.write_text(text)
    print(f"{versions}; AUC, and the share of wrong rows among as many oddest", file=sys.stderr)
    print(text, end="")


if __name__ == "__main__":
    main()
