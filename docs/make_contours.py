"""Draw docs/contours.png: depth contours of a correlated sample with a few outliers."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import lossdepth
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(4)
core = rng.standard_t(6, size=(180, 2)) @ np.array([[1.6, 0.9], [0.0, 0.7]])
stray = rng.normal([-4.5, 3.5], 0.5, size=(8, 2))
sample = np.vstack([core, stray])
side = np.linspace(-7, 7, 161)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)

panels = [
    ("logistic, reg = 0.1", {"method": "logistic", "reg": 0.1}),
    ("logistic, reg = 0.001", {"method": "logistic", "reg": 0.001}),
    ("hinge, reg = 0.1, scale = mcd", {"method": "hinge", "reg": 0.1, "scale": "mcd"}),
]
figure, axes = plt.subplots(1, 3, figsize=(12, 4.1), layout="constrained", sharey=True)
for axis, (title, settings) in zip(axes, panels, strict=True):
    depth = lossdepth.depth(grid, sample, **settings).reshape(len(side), len(side))
    filled = axis.contourf(
        side, side, depth, levels=np.linspace(0, 1, 21), cmap="viridis"
    )
    lines = axis.contour(
        side,
        side,
        depth,
        levels=[0.1, 0.3, 0.5, 0.7, 0.9],
        colors="white",
        linewidths=0.8,
    )
    axis.clabel(lines, fontsize=8, fmt="%.1f")
    axis.plot(*core.T, ".", ms=4, color="white", mec="black", mew=0.3)
    axis.plot(*stray.T, ".", ms=6, color="tab:orange", mec="black", mew=0.4)
    axis.set(title=title, aspect="equal", xlabel="x₁", xlim=(-7, 7), ylim=(-7, 7))
axes[0].set_ylabel("x₂")
figure.colorbar(
    filled, ax=axes, label="depth", shrink=0.9, ticks=[0, 0.25, 0.5, 0.75, 1]
)
figure.savefig(Path(__file__).with_name("contours.png"), dpi=110)
