"""Draw the pictures of the Python package: docs/python/*.png, one for each kind of plot."""

import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from lossdepth import (
    HalfspaceDepth,
    LogisticDepth,
    LossDepth,
    SVMDepth,
    plot,
)
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.neighbors import KNeighborsClassifier

FOLDER = Path(__file__).with_name("python")
rng = np.random.default_rng(4)


def save(name: str, ax: object, dpi: int = 110) -> None:
    """Write a picture and forget it."""
    ax.figure.savefig(FOLDER / f"{name}.png", dpi=dpi)
    plt.close(ax.figure)


def moons() -> pd.DataFrame:
    """Return two bent clusters and a few strays."""
    angle = rng.uniform(0, np.pi, size=120)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1.0 - np.cos(angle), 0.4 - np.sin(angle)])
    rows = np.vstack([upper, lower]) + rng.normal(scale=0.09, size=(240, 2))
    rows = np.vstack([rows, rng.uniform([-1.3, -1.0], [2.3, 1.4], size=(12, 2))])
    return pd.DataFrame(rows, columns=["length", "width"])


FOLDER.mkdir(exist_ok=True)
frame = moons()
detector = SVMDepth(reg=0.02, gamma=6.0, contamination=0.06).fit(frame)
save("depth_map", plot.depth_map(detector, frame))

figure, axes = plt.subplots(
    1, 3, figsize=(14.0, 4.0), layout="constrained", sharey=True
)
for ax, depth in zip(
    axes,
    [
        LogisticDepth(reg=0.01),
        HalfspaceDepth(),
        LossDepth(KNeighborsClassifier(25), weighting="repeat", loss="brier", n_jobs=2),
    ],
    strict=True,
):
    depth.set_params(contamination=0.06).fit(frame)
    last = ax is axes[-1]
    plot.depth_map(depth, frame, ax=ax, resolution=31 if last else 91)
axes[-1].set_title("LossDepth(KNeighborsClassifier(25))")
save("depth_maps", axes[0], dpi=75)

wine = load_wine(as_frame=True)
cultivar = wine.target == 0
detector = LogisticDepth(reg=0.01, scale="standard").fit(wine.data[cultivar])
save("scores", detector.score_details(wine.data).plot())
groups = {0: "cultivar 0 (the reference)", 1: "cultivar 1", 2: "cultivar 2"}
save("distribution", plot.distribution(detector, wine.data, wine.target, names=groups))
why = detector.explain(wine.data.iloc[[140]])
save("explanation", why.plot())
save("influence", why.plot(kind="rows"))

cancer = load_breast_cancer(as_frame=True)
columns = ["mean radius", "mean texture", "mean smoothness", "mean compactness"]
benign, malignant = (cancer.data.loc[cancer.target == k, columns] for k in (1, 0))
save("dd_plot", plot.dd_plot(benign, malignant, names=("benign", "malignant")))

digits = load_digits()
zeros = digits.data[digits.target == 0] / 16.0
odd = digits.data[digits.target == 6][:1] / 16.0
why = LogisticDepth(reg=0.01).fit(zeros).explain(odd)
figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.6), layout="constrained")
axes[0].imshow(odd.reshape(8, 8), cmap="gray_r")
axes[0].set(xticks=[], yticks=[], title="a six, among zeros")
save("image", why.plot(image=(8, 8), ax=axes[1]))

cloud = rng.standard_t(3, size=(220, 2)) @ np.array([[1.4, 0.8], [0.0, 0.6]])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    save("bagplot", HalfspaceDepth().fit(cloud).bagplot().plot(cloud))
