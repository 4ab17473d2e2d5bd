"""Reduce the pictures of tests/browser/pictures.mjs to a palette: python tests/browser/shrink.py FOLDER. Needs Pillow."""

import sys
from pathlib import Path

from PIL import Image

# What means something and is too rare for a palette to find: the colours of odd rows and of what is now, light and dark,
# whole and mixed with the ground.
RARE = [
    tuple(round(share * x + (1 - share) * y) for x, y in zip(colour, ground, strict=True))
    for colour, ground in (
        ((196, 78, 0), (255, 255, 255)),
        ((196, 78, 0), (246, 247, 249)),
        ((11, 98, 160), (255, 255, 255)),
        ((255, 154, 82), (20, 23, 27)),
        ((255, 154, 82), (28, 33, 39)),
        ((108, 184, 240), (20, 23, 27)),
    )
    for share in (1.0, 0.8, 0.6, 0.4, 0.2)
]


def main() -> None:
    """Write every picture again, smaller."""
    for path in sorted(Path(sys.argv[1]).glob("report-*.png")):
        picture = Image.open(path).convert("RGB")
        common = picture.quantize(150, method=Image.Quantize.MEDIANCUT)
        palette = Image.new("P", (1, 1))
        colours = [x for colour in RARE for x in colour]
        palette.putpalette(common.getpalette()[: 3 * 150] + colours)
        small = picture.quantize(palette=palette, dither=Image.Dither.NONE)
        small.save(path, optimize=True)
        print(path.name, path.stat().st_size)


main()
