"""Makes sensors.csv: 200 readings of one machine, 11 of them faulty.

Temperature, pressure, vibration and current rise and fall together with the load. Most faults stay within the
range of every single sensor but break that pattern (a hot machine that draws little current); three are gross.
"""

import csv
import random
from pathlib import Path

FAULTS = {
    # row: how far from what the load implies, in (temperature, pressure, vibration, current)
    5: (0.0, 0.0, 1.0, -4.5),
    17: (9.0, 0.0, 0.0, -4.0),
    41: (-8.0, 0.35, 0.0, 0.0),
    66: (0.0, -0.40, 0.9, 0.0),
    88: (0.0, 0.0, -1.0, 4.5),
    109: (30.0, 0.0, 0.0, 0.0),
    121: (8.0, -0.35, 0.0, 0.0),
    143: (0.0, 0.0, 5.0, 0.0),
    160: (0.0, 0.40, 0.0, -4.5),
    179: (0.0, 0.0, 0.0, 25.0),
    192: (-8.5, 0.0, 0.9, 0.0),
}


def main():
    random.seed(20240607)
    with Path(__file__).with_name("sensors.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["id", "temperature", "pressure", "vibration", "current", "label"])
        for row in range(200):
            # Faults happen at middling load, so that no single reading gives them away.
            load = (
                random.gauss(0.0, 1.0)
                if row not in FAULTS
                else random.uniform(-0.3, 0.3)
            )
            off = FAULTS.get(row, (0.0, 0.0, 0.0, 0.0))
            temperature = 61.0 + 6.0 * load + random.gauss(0.0, 1.5) + off[0]
            pressure = 2.4 + 0.25 * load + random.gauss(0.0, 0.06) + off[1]
            vibration = 2.8 + 0.6 * load + random.gauss(0.0, 0.15) + off[2]
            current = 14.0 + 2.8 * load + random.gauss(0.0, 0.7) + off[3]
            out.writerow(
                [
                    f"m{row:03d}",
                    f"{temperature:.1f}",
                    f"{pressure:.2f}",
                    f"{vibration:.2f}",
                    f"{current:.1f}",
                    int(row in FAULTS),
                ]
            )


if __name__ == "__main__":
    main()
