"""Makes more messy files next to it, each with a few planted errors that the oddest rows must be.

Run it in an environment with openpyxl; `python make_planted.py`. `tests/suite/planted.rs` knows the errors.
"""

import datetime as dt
import math
import random
from pathlib import Path

HERE = Path(__file__).parent
N = 120
rng = random.Random(2026)


def write(name, rows, delimiter=",", encoding="utf-8", newline="\n", above=""):
    def cell(value):
        text = str(value)
        return '"' + text.replace('"', '""') + '"' if any(c in text for c in delimiter + '"\n') else text

    text = above + "".join(delimiter.join(cell(value) for value in row) + "\n" for row in rows)
    (HERE / name).write_bytes(text.replace("\n", newline).encode(encoding))


def german(value, digits=2):
    return f"{value:,.{digits}f}".replace(",", "\0").replace(".", ",").replace("\0", ".")


# Shift-JIS as a Japanese spreadsheet saves it: dates in years, months and days, yen with a comma.
rows = [["注文番号", "日付", "店舗", "数量", "単価", "金額"]]
for i in range(N):
    count, price, day = rng.randint(1, 20), rng.choice([120, 250, 380, 480, 980]), dt.date(2025, 1, 4) + dt.timedelta(i)
    rows.append([f"A{i + 1000}", f"{day.year}年{day.month}月{day.day}日", rng.choice(["東京", "大阪", "名古屋", "福岡"]),
                 count, f"¥{price:,}", f"¥{price * count:,}"])
rows[32][5], rows[78][1], rows[100][2] = "¥9", "1925年5月4日", "東亰"
write("japanese_orders.csv", rows, encoding="shift_jis", newline="\r\n")

# Rates by the hour, lengths of work and a total.
rows = [["employee", "title", "rate", "hours", "gross"]]
for i in range(N):
    title, hours = rng.choice(["Clerk", "Driver", "Welder"]), rng.choice([36, 38, 40, 40, 42, 45])
    rate = round({"Clerk": 17, "Driver": 21, "Welder": 27}[title] + rng.uniform(-2, 2), 2)
    rows.append([f"E-{i:04}", title, f"${rate:.2f}/hr", f"{hours} hrs", f"${rate * hours:,.2f}"])
rows[18][2], rows[61][4], rows[100][3] = "$185.00/hr", "$17,120.00", "400 hrs"
write("hourly_rates.csv", rows)

# Amounts in the currency of their country.
rows = [["invoice", "country", "amount", "days"]]
for i in range(N):
    country, amount = rng.choice(["US", "DE", "GB"]), rng.lognormvariate(5, 0.5)
    sign = {"US": "$", "DE": "€", "GB": "£"}[country]
    rows.append([f"I{i:05}", country, f"{sign}{amount:,.2f}", rng.randint(5, 40)])
rows[9][2], rows[51][3], rows[90][1:3] = rows[9][2][0] + "98,000.00", 999, ["US", "£210.00"]
write("currencies.csv", rows)

# Blood pressure as two numbers.
rows = [["patient", "sex", "age", "BP", "pulse", "temp"]]
for i in range(N):
    age = rng.randint(20, 85)
    upper = round(rng.gauss(110 + 0.3 * age, 9))
    rows.append([f"P{i:03}", rng.choice("MF"), age, f"{upper}/{round(0.62 * upper + rng.gauss(3, 4))}",
                 round(rng.gauss(74, 9)), f"{rng.gauss(36.8, 0.35):.1f}°C"])
rows[41][3], rows[71][5], rows[91][3], rows[111][2] = "80/120", "98.6°C", "1260/78", 840
write("vitals.csv", rows)

# Places as latitude and longitude in a cell.
rows = [["station", "position", "elevation", "depth"]]
for i in range(N):
    place = f"{rng.uniform(47.5, 49.5):.4f}, {rng.uniform(9.5, 12.5):.4f}"
    rows.append([f"ST{i}", place, f"{rng.randint(300, 800)} m", f"{rng.uniform(1, 20):.1f}"])
rows[29][1], rows[78][2], rows[101][1] = "10.4412, 48.2213", "5200 m", "48.5521, 110.0412"
write("positions.csv", rows)

# Kilograms and tons, centimetres and metres.
rows = [["shipment", "carrier", "weight", "length", "pallets"]]
for i in range(N):
    weight = rng.lognormvariate(6.3, 0.6)
    rows.append([f"SH{i:04}", rng.choice(["DHL", "UPS", "GLS"]),
                 f"{weight:.0f} kg" if weight < 1000 else f"{weight / 1000:.1f} t",
                 f"{rng.uniform(80, 240):.0f} cm" if i % 3 else f"{rng.uniform(0.8, 2.4):.2f} m", max(1, round(weight / 150))])
rows[16][2:5:2], rows[62][3], rows[101][4] = ["580 t", 4], "170 m", 88
write("shipments.csv", rows)

# Debit and credit behind an amount, minus signs behind another.
rows, balance = [["doc", "posting", "amount", "balance"]], 5000.0
for i in range(N):
    amount = round(rng.gauss(20, 400), 2)
    balance += amount - 0.05 * (balance - 5000)
    side = "CR" if balance >= 0 else "DR"
    rows.append([f"90{i:06}", (dt.date(2025, 1, 1) + dt.timedelta(i)).strftime("%d.%m.%Y"),
                 german(abs(amount)) + ("-" if amount < 0 else ""), f"{german(abs(balance))} {side}"])
rows[43][2], rows[71][1], rows[101][3] = "48.500,00-", "12.04.2035", "5.050,00 DR"
write("ledger.csv", rows, ";")

# Times of trips that go on after midnight.
rows = [["trip_id", "arrival_time", "departure_time", "stop_sequence", "dist_m"]]
for trip in range(24):
    minutes, way = 300 + 50 * trip, 0
    for stop in range(8):
        leaves = minutes + rng.choice([0, 0, 1])
        clock = [f"{m // 60:02}:{m % 60:02}:00" for m in (minutes, leaves)]
        rows.append([f"t{trip}", *clock, stop + 1, way])
        minutes, way = leaves + rng.randint(2, 5), way + rng.randint(400, 900)
rows[56][2], rows[101][3], rows[151][4], rows[171][1] = "16:40:00", 99, 250000, "95:10:00"
write("stop_times.txt", rows)

# Feet and inches, pounds.
rows = [["Player", "Pos", "Ht", "Wt", "Age"]]
for i in range(N):
    position = rng.choice(["QB", "WR", "OL", "DL"])
    height = round({"QB": 75, "WR": 72, "OL": 77, "DL": 76}[position] + rng.gauss(0, 1.3))
    weight = round({"QB": 220, "WR": 195, "OL": 310, "DL": 290}[position] + rng.gauss(0, 10))
    rows.append([f"Player {i}", position, f"{height // 12}'{height % 12}\"", f"{weight} lbs", rng.randint(21, 35)])
rows[11][2], rows[66][3], rows[101][4] = "7'11\"", "29 lbs", 3
write("roster.csv", rows)

# A logger: a line about the device, then names, units and kinds of value.
rows = [["TIMESTAMP", "RECORD"] + [f"T_{k}" for k in range(6)] + ["BattV"],
        ["TS", "RN"] + ["Deg C"] * 6 + ["Volts"], ["", ""] + ["Avg"] * 6 + ["Min"]]
for i in range(N):
    base = 15 + 8 * math.sin(i / 24 * 6.28)
    moment = dt.datetime(2025, 1, 1) + dt.timedelta(hours=i)
    rows.append([moment, 1000 + i] + [f"{base + 0.2 * k + rng.gauss(0, 0.3):.2f}" for k in range(6)]
                + [f"{12.6 + rng.gauss(0, 0.05):.2f}"])
rows[53][5], rows[83][7], rows[103][8] = "-9999", f"{float(rows[83][7]) + 12:.2f}", "9.1"
write("logger.dat", rows, above='"TOA5","CR1000","CR1000","12345","CR1000.Std.31","CPU:prog.CR1","9313","Table1"\n')

# Ends of lines that a program left out where they are empty, in half of the lines.
rows = [["id", "temp", "temp", "", "humidity", "note", ""]]
for i in range(N):
    temp = rng.gauss(20, 2)
    rows.append([f"d{i}", f"{temp:.1f}", f"{temp + rng.gauss(0, 0.3):.1f}", "", f"{rng.gauss(50, 8):.0f}",
                 "" if i % 20 else "checked", ""])
rows[51][2], rows[91][4] = "-20.2", "500"
text = "".join((",".join(row).rstrip(",") if i % 2 and i else ",".join(row)) + "\n" for i, row in enumerate(rows))
(HERE / "short_lines.csv").write_text(text)

# Colony counts with a decimal comma and an exponent, and a unit that no list has.
rows = [["Probe", "Keimzahl", "pH", "Leitfähigkeit"]]
for i in range(N):
    rows.append([f"W{i}", f"{rng.lognormvariate(12, 1):.2E}".replace(".", ","), f"{rng.gauss(7.4, 0.3):.2f}".replace(".", ","),
                 f"{rng.gauss(550, 80):.0f} µS/cm"])
rows[21][1], rows[72][2], rows[101][3] = "3,20E+12", "74,1", "5,5 µS/cm"
write("water.csv", rows, ";")

# Post codes with the city of another one.
cities = {"01067": "Dresden", "04109": "Leipzig", "10115": "Berlin", "20095": "Hamburg", "80331": "München"}
rows = [["customer", "plz", "city", "orders"]]
for i in range(N):
    code = rng.choice(list(cities))
    rows.append([f"K-{i:03}", code, cities[code], rng.randint(1, 30)])
rows[34][1:3], rows[91][1:3], rows[101][1:3] = ["1067", "Dresden"], ["10115", "Belrin"], ["80331", "Hamburg"]
write("post_codes.csv", rows)

# Cells merged over the rows of a group.
import openpyxl

book = openpyxl.Workbook()
sheet = book.active
sheet.append(["Budget 2025"])
sheet.merge_cells("A1:E1")
sheet.append([])
sheet.append(["Region", "Branch", "Plan", "Actual", "Deviation"])
for i in range(N):
    plan = round(rng.lognormvariate(5, 0.4), 1)
    actual = round(plan * rng.uniform(0.85, 1.15), 1)
    row = [["North", "South", "East"][i // 40] if i % 40 == 0 else None, f"B{i:03}", plan, actual, round(actual - plan, 1)]
    if i == 33:
        row[3:] = [round(10 * plan, 1), round(9 * plan, 1)]
    if i == 80:
        row[4] = round(-row[4] - 40, 1)
    sheet.append(row)
for start in (4, 44, 84):
    sheet.merge_cells(start_row=start, start_column=1, end_row=start + 39, end_column=1)
book.properties.created = book.properties.modified = dt.datetime(2025, 1, 1)
book.save(HERE / "merged.xlsx")
