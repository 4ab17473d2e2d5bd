"""Copy the pictures of a reproduction to docs/reproduce, small enough for a repository.

    lossdepth reproduce all --data DATA --out RESULTS
    python docs/shrink_pictures.py RESULTS

They are scaled to 1000 pixels across and reduced to a palette. Needs Pillow.
"""

import sys
from pathlib import Path

from PIL import Image

PICTURES = Path(__file__).resolve().parent / "reproduce"
WIDTH = 1000
LARGEST = 150_000
# The colours of lines and marks, and half of the way to white: too rare for a palette to find them.
LINES = [
    (255, 255, 255),
    (30, 30, 30),
    (213, 94, 0),
    (230, 159, 0),
    (204, 121, 167),
    (0, 114, 178),
    (0, 158, 115),
    (86, 180, 233),
]
RARE = [
    c
    for line in LINES
    for tint in (1.0, 0.5, 0.25)
    for c in (round(255 - tint * (255 - x)) for x in line)
]


def shrink(source: Path, target: Path) -> None:
    """Write a picture ``WIDTH`` pixels wide with as many colours as there is room for."""
    picture = Image.open(source).convert("RGB")
    if picture.width > WIDTH:
        height = round(picture.height * WIDTH / picture.width)
        picture = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
    for colours in (228, 180, 140, 100, 60):
        common = picture.quantize(colours, method=Image.Quantize.MEDIANCUT)
        palette = Image.new("P", (1, 1))
        palette.putpalette(common.getpalette()[: 3 * colours] + RARE)
        small = picture.quantize(palette=palette, dither=Image.Dither.NONE)
        # The nearest colour is found in steps of four: white is white.
        found = small.getpalette()
        paper = 3 * small.getpixel((0, 0))
        found[paper : paper + 3] = [255, 255, 255]
        small.putpalette(found)
        small.save(target, optimize=True)
        if target.stat().st_size <= LARGEST:
            return


def main() -> None:
    """Shrink every picture of the folder in the argument."""
    PICTURES.mkdir(exist_ok=True)
    for source in sorted(Path(sys.argv[1]).glob("*.png")):
        shrink(source, PICTURES / source.name)
        size = (PICTURES / source.name).stat().st_size
        print(f"{source.name}: {size / 1000:.0f} kB")


main()
