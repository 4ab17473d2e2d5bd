"""Makes orders.csv: orders of a shop as a person would export them, with a few mistakes planted.

The mistakes: a quantity of 900, a payment after 365 days, an amount ten times too large for its quantity and price, a unit
price of 1,890, a discount of 95 %, a region that does not exist, a date two years early, a negative amount, two lines entered
twice.
"""

from __future__ import annotations

import csv
import datetime as dt
from pathlib import Path

import numpy as np

ROWS = 1200
FIRST = 100001
HEADER = [
    "order_id",
    "customer",
    "order_date",
    "product",
    "region",
    "channel",
    "quantity",
    "unit_price",
    "discount",
    "amount",
    "days_to_pay",
    "returned",
]


def main() -> None:
    """Write the table beside this script."""
    rng = np.random.default_rng(7)
    names = [
        "Almeida",
        "Brandt",
        "Chen",
        "Dubois",
        "Eriksen",
        "Fischer",
        "Garcia",
        "Haddad",
        "Ivanov",
        "Jones",
    ]
    firms = [
        "& Sons",
        "Ltd",
        "GmbH",
        "SARL",
        "Trading",
        "Supplies",
        "Brothers",
        "Import",
    ]
    products = {
        "lamp": 27.0,
        "chair": 64.0,
        "desk": 189.0,
        "shelf": 92.0,
        "rug": 45.0,
        "mirror": 38.0,
    }
    start = dt.date(2024, 1, 2)
    rows = []
    for i in range(ROWS):
        product = str(rng.choice(list(products), p=[0.3, 0.25, 0.1, 0.15, 0.12, 0.08]))
        channel = str(rng.choice(["web", "shop", "phone"], p=[0.6, 0.3, 0.1]))
        region = str(
            rng.choice(["North", "South", "East", "West"], p=[0.35, 0.3, 0.2, 0.15])
        )
        quantity = int(np.clip(rng.poisson(9) + rng.geometric(0.25), 1, 40))
        price = round(products[product] * float(np.exp(rng.normal(0, 0.08))), 2)
        discount = float(rng.choice([0, 5, 10, 15], p=[0.6, 0.2, 0.15, 0.05]))
        days = int(
            np.clip(rng.gamma(3.2, 5.5) + (6 if channel == "phone" else 0), 1, 60)
        )
        date = start + dt.timedelta(days=int(rng.integers(0, 360)))
        returned = bool(rng.random() < 0.05)
        customer = f"{rng.choice(names)} {rng.choice(firms)} {rng.integers(1, 400)}"
        rows.append(
            [
                FIRST + i,
                customer,
                date,
                product,
                region,
                channel,
                quantity,
                price,
                discount,
                days,
                returned,
            ]
        )

    def amount(row: list) -> float:
        return round(row[6] * row[7] * (1 - row[8] / 100), 2)

    amounts = [amount(row) for row in rows]
    at = {
        number: number - FIRST
        for number in (
            100017,
            100144,
            100333,
            100402,
            100555,
            100618,
            100777,
            100901,
            101010,
        )
    }
    amounts[at[100017]] *= 10
    rows[at[100144]][8] = 95.0
    amounts[at[100144]] = amount(rows[at[100144]])
    rows[at[100333]][6] = 900
    amounts[at[100333]] = amount(rows[at[100333]])
    rows[at[100402]][4] = "Nrth"
    rows[at[100555]][2] = dt.date(2022, 3, 4)
    rows[at[100618]][7] = 1890.0
    amounts[at[100618]] = amount(rows[at[100618]])
    rows[at[100777]][9] = 365
    amounts[at[100901]] = -amounts[at[100901]]
    gaps = set(rng.choice(ROWS, 71, replace=False).tolist()) - set(at.values())
    with (Path(__file__).parent / "orders.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for i, row in enumerate(rows):
            (
                number,
                customer,
                date,
                product,
                region,
                channel,
                quantity,
                price,
                discount,
                days,
                returned,
            ) = row
            line = [
                f"ORD-{number}", customer, date.isoformat(), product, region, channel, quantity, f"${price:,.2f}",
                f"{discount:g}%", f"{amounts[i]:,.2f}", "" if i in gaps else days, "yes" if returned else "no",
            ]  # fmt: skip
            writer.writerow(line)
            if number in (100250, 100800):
                writer.writerow([f"ORD-{number + 10000}", *line[1:]])


if __name__ == "__main__":
    main()
