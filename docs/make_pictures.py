"""Draw docs/pictures with `lossdepth plot`, `explain` and `evaluate`.

Needs the program (``LOSSDEPTH_BIN``, by default the one in target/release) and, for the shoes, the
folder with the data sets (``LOSSDEPTH_DATA``).
"""

import gzip
import os
import random
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("LOSSDEPTH_BIN", str(ROOT / "target/release/lossdepth"))
PICTURES = ROOT / "docs/pictures"
SIZE = "1050x875"


def lossdepth(command: str, *arguments: str) -> None:
    """Run the program and complain if it does."""
    subprocess.run(
        [PROGRAM, command, *arguments], check=True, stdout=subprocess.DEVNULL
    )


def two_modes(path: Path) -> None:
    """Write the paper's illustration: two normal clouds of 200 points."""
    generator = random.Random(1)
    with path.open("w") as file:
        file.write("x₁,x₂\n")
        for centre in (-3.5, 3.5):
            for _ in range(200):
                x, y = generator.gauss(centre, 1), generator.gauss(centre, 1)
                file.write(f"{x:.4f},{y:.4f}\n")


def leaning(path: Path) -> None:
    """Write a correlated cloud with heavy tails and a few strays."""
    generator = random.Random(4)
    with path.open("w") as file:
        file.write("length,width\n")
        for _ in range(180):
            tail = (6 / generator.gammavariate(3, 2)) ** 0.5
            a, b = tail * generator.gauss(0, 1), tail * generator.gauss(0, 1)
            file.write(f"{1.6 * a:.4f},{0.9 * a + 0.7 * b:.4f}\n")
        for _ in range(8):
            file.write(
                f"{generator.gauss(-4.5, 0.5):.4f},{generator.gauss(3.5, 0.5):.4f}\n"
            )


def shoes(path: Path, data: Path) -> None:
    """Write the sneakers of Fashion-MNIST's test images."""
    images = gzip.decompress(
        (data / "fashion-mnist/t10k-images-idx3-ubyte.gz").read_bytes()
    )[16:]
    labels = gzip.decompress(
        (data / "fashion-mnist/t10k-labels-idx1-ubyte.gz").read_bytes()
    )[8:]
    with path.open("w") as file:
        for i, label in enumerate(labels):
            if label == 7:
                pixels = images[784 * i : 784 * (i + 1)]
                file.write(",".join(f"{pixel / 255:.4g}" for pixel in pixels) + "\n")


def main() -> None:
    """Draw everything."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        modes, leans, sneakers = (
            Path(folder) / f"{name}.csv" for name in ("two-modes", "sample", "sneakers")
        )
        two_modes(modes)
        leaning(leans)
        # The depths themselves, of columns that have one unit.
        plain = [
            "--scale",
            "none",
            "--colour",
            "depth",
            "--top",
            "0",
            "--contamination",
            "0",
        ]
        for method, title, settings in (
            ("svm", "svm", ["--reg", "0.05"]),
            ("gp", "gp", []),
            ("forest", "forest", []),
            ("mlp", "mlp", []),
        ):
            out = str(PICTURES / f"{method}.png")
            lossdepth(
                "plot",
                str(modes),
                "--method",
                method,
                *settings,
                *plain,
                "--title",
                title,
                "--size",
                SIZE,
                "--out",
                out,
            )
        halfspace = ["--method", "halfspace", "--size", SIZE]
        lossdepth(
            "plot",
            str(leans),
            *halfspace,
            "--bagplot",
            "--out",
            str(PICTURES / "bagplot.png"),
        )
        lossdepth(
            "plot",
            str(leans),
            *plain,
            "--method",
            "logistic",
            "--reg",
            "0.01",
            "--size",
            SIZE,
            "--out",
            str(PICTURES / "logistic.png"),
        )
        sensors = str(ROOT / "examples/sensors.csv")
        columns = ["--id", "id", "--label", "label", "--scale", "standard"]
        methods = ["--methods", "logistic:reg=0.01,svm:reg=0.05,forest,knn"]
        lossdepth(
            "evaluate", sensors, *columns, *methods, "--plot", str(PICTURES / "roc.png")
        )
        lossdepth(
            "plot",
            sensors,
            *columns,
            "--method",
            "logistic",
            "--reg",
            "0.01",
            "--size",
            SIZE,
            "--out",
            str(PICTURES / "sensors.png"),
        )
        if "LOSSDEPTH_DATA" in os.environ:
            shoes(sneakers, Path(os.environ["LOSSDEPTH_DATA"]))
            image = [
                "--image",
                "28x28",
                "--scale",
                "none",
                "--method",
                "logistic",
                "--reg",
                "0.01",
                "--shallowest",
                "4",
                "--size",
                "1400x900",
            ]
            lossdepth(
                "explain", str(sneakers), *image, "--out", str(PICTURES / "shoes.png")
            )


if __name__ == "__main__":
    main()
