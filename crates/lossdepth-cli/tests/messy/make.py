"""Makes the messy files next to it: tables as spreadsheets, databases, surveys and logs export them.

Run it in an environment with openpyxl, odfpy and xlwt; `python make.py`. What should come out of each file is in the
file of the same name with `.expected` behind it, checked by `tests/suite/messy.rs`.
"""

import datetime as dt
import gzip
import random
from pathlib import Path

HERE = Path(__file__).parent
N = 40


def write(name, text, encoding="utf-8", newline="\n", mark=b""):
    (HERE / name).write_bytes(mark + text.replace("\n", newline).encode(encoding))


def table(rows, delimiter=","):
    def cell(value):
        text = str(value)
        return '"' + text.replace('"', '""') + '"' if any(c in text for c in delimiter + '"\n') else text

    return "".join(delimiter.join(cell(value) for value in row) + "\n" for row in rows)


def thousands(value, point=".", comma=",", digits=2):
    text = f"{value:,.{digits}f}"
    return text.replace(",", "\0").replace(".", point).replace("\0", comma)


rng = random.Random(20)
day = lambda i: dt.date(2024, 1, 3) + dt.timedelta(days=5 * i)
amount = [round(rng.lognormvariate(6, 1), 2) for _ in range(N)]
count = [rng.randint(1, 30) for _ in range(N)]
region = [rng.choice(["North", "South", "East", "West"]) for _ in range(N)]
share = [rng.random() / 3 for _ in range(N)]
names = ["Müller", "Jörg & Söhne", "Café Zoë", "Weiß GmbH", "O'Neill", "François", "Łódź Ltd", "Ängström"]
city = [rng.choice(["Köln", "München", "Düsseldorf", "Würzburg"]) for _ in range(N)]
gap = lambda i, k, value, word="": word if i % k == 3 else value

# 1 Orders of a shop: ids, names, a date, categories, dollars, a few gaps.
rows = [["order_id", "customer", "order_date", "region", "quantity", "unit_price", "discount", "paid"]]
for i in range(N):
    rows.append([f"ORD-{100000 + i}", f"customer {rng.randrange(10**6)}", day(i), gap(i, 13, region[i]), count[i],
                 f"${thousands(amount[i])}", f"{100 * share[i]:.0f}%", rng.choice(["yes", "no"])])
write("us_orders.csv", table(rows))

# 2 German export: semicolons, decimal commas, points for thousands, dates with points, Windows-1252.
rows = [["Bestellnr", "Datum", "Ort", "Betrag", "Menge", "Rabatt"]]
for i in range(N):
    rows.append([4711 + i, day(i).strftime("%d.%m.%Y"), city[i], thousands(amount[i], ",", ".") + " €", count[i],
                 f"{100 * share[i]:.1f} %".replace(".", ",")])
write("german_excel.csv", table(rows, ";"), "windows-1252", "\r\n")

# 3 The same numbers where only thousands have a point and other columns show the comma.
rows = [["Filiale", "Umsatz", "Quote"]]
for i in range(N):
    rows.append([city[i], thousands(1000 + 10 * amount[i], ",", ".", 0), f"{share[i]:.3f}".replace(".", ",")])
write("german_thousands.csv", table(rows, ";"))

# 4 French: non-breaking spaces for thousands, decimal commas, day first.
rows = [["numéro", "date", "région", "montant", "quantité"]]
for i in range(N):
    rows.append([f"F{i:05d}", day(i).strftime("%d/%m/%Y"), rng.choice(["Île-de-France", "Bretagne", "Alsace"]),
                 thousands(amount[i], ",", "\u202f") + " €", count[i]])
write("french_invoices.csv", table(rows, ";"), mark=b"\xef\xbb\xbf")

# 5 American dates, month first, with times.
rows = [["when", "sensor", "reading"]]
for i in range(N):
    moment = dt.datetime(2024, 3, 1, 8, 30) + dt.timedelta(hours=37 * i)
    rows.append([moment.strftime("%m/%d/%Y %I:%M %p"), rng.choice("ABC"), round(rng.gauss(20, 2), 2)])
write("us_dates.csv", table(rows))

# 6 UTF-16 with a mark and tabs, as Excel's "Unicode text".
rows = [["Kunde", "Ort", "Wert"]] + [[f"K{i}", city[i], f"{share[i]:.2f}".replace(".", ",")] for i in range(N)]
write("excel_unicode.txt", table(rows, "\t"), "utf-16-le", "\r\n", b"\xff\xfe")

# 7 UTF-16 big-endian without a mark.
rows = [["town", "value", "size"]] + [[city[i], round(amount[i], 1), count[i]] for i in range(N)]
write("utf16be.csv", table(rows), "utf-16-be")

# 8 Title lines above the header, a total and a remark below.
rows = [["month", "units", "revenue", "returns"]]
for i in range(24):
    rows.append([f"{2022 + i // 12}-{i % 12 + 1:02d}", count[i] * 10, amount[i], count[i] % 4])
text = "Sales report\nRegion: all; currency: USD\n\n" + table(rows)
text += f"Total,{10 * sum(count[:24])},{sum(amount[:24]):.2f},{sum(c % 4 for c in count[:24])}\n\nSource: internal figures\n"
write("report_with_titles.csv", text)

# 9 The same from a spreadsheet, which fills lines up with commas.
rows = [["name", "age", "height", "weight"]] + [
    [f"P{i}", 20 + count[i], 150 + count[i], gap(i, 9, round(50 + 2 * share[i] * 60, 1))] for i in range(N)]
write("padded_titles.csv", "Patients,,,\nas of 2024-05-01,,,\n" + table(rows) + ",,,\n,,,\n")

# 10 A dump of PostgreSQL: \\N for null, t and f, timestamps.
rows = [["id", "created_at", "active", "score", "plan"]]
for i in range(N):
    rows.append([i + 1, f"{day(i)} 12:0{i % 10}:30.25", rng.choice("tf"), gap(i, 11, round(share[i], 4), "\\N"),
                 gap(i, 17, rng.choice(["free", "pro"]), "\\N")])
write("postgres_dump.tsv", table(rows, "\t"))

# 11 The output of sqlcmd: bars, NULL, a count of rows below.
rows = [["customer_no", "balance", "status"]] + [
    [f"{i:07d}", gap(i, 8, amount[i], "NULL"), rng.choice(["OPEN", "CLOSED"])] for i in range(N)]
write("sqlcmd.txt", table(rows, "|") + f"\n({N} rows affected)\n", newline="\r\n")

# 12 A survey: Likert words, N/A, free text with line breaks and quotes.
likert = ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]
rows = [["Respondent", "I like it", "It is fast", "Age group", "Years", "Comments, if any"]]
for i in range(N):
    said = f'{rng.choice(names)} said: "fine, no. {i}"\nand more: {rng.random()}'
    rows.append([f"R{rng.randrange(10**6):06d}", gap(i, 7, rng.choice(likert), "N/A"), rng.choice(likert),
                 rng.choice(["18-29", "30-44", "45+"]), gap(i, 10, count[i], "-"), said])
write("survey.csv", table(rows))

# 13 A log: ISO times with a zone, levels, durations, status codes.
rows = [["time", "level", "status", "ms", "path"]]
for i in range(N):
    moment = dt.datetime(2024, 5, 1, 0, 0) + dt.timedelta(minutes=17 * i)
    rows.append([moment.isoformat() + "Z", rng.choice(["INFO", "WARN"]), rng.choice([200, 200, 404]), round(5 * amount[i]),
                 rng.choice(["/", "/login", "/cart"])])
write("server_log.csv", table(rows))

# 14 Bare carriage returns, as old Macs wrote them.
rows = [["x", "y", "kind"]] + [[round(share[i], 3), count[i], rng.choice("ab")] for i in range(N)]
write("old_mac.csv", table(rows), newline="\r")

# 15 Columns of the same name, and of none.
rows = [["value", "value", "", "value", ""]] + [
    [round(rng.random(), 3), round(rng.random(), 3), rng.choice("uv"), round(rng.random(), 3), ""] for _ in range(N)]
write("same_names.csv", table(rows))

# 16 Postal codes and telephone numbers: leading zeros and plus signs.
rows = [["zip", "phone", "turnover"]] + [
    [f"{rng.choice([1067, 4109, 80331, 50667]):05d}", f"+49{rng.randrange(10**9, 10**10)}", amount[i]] for i in range(N)]
write("codes.csv", table(rows, ";"))

# 17 R's write.table: names of rows without a name in the header, NA.
rows = [["height", "width", "class"]]
rows += [[f"obs{i}", gap(i, 9, round(rng.gauss(170, 9), 1), "NA"), round(rng.gauss(60, 9), 1), rng.choice(["u", "v"])]
         for i in range(N)]
write("r_table.tsv", table(rows, "\t"))

# 18 A constant column, an empty one, and repeated rows.
rows = [["currency", "note", "price", "size"]] + [["EUR", "", round(amount[i % 30], 1), count[i % 30]] for i in range(N)]
write("constant.csv", table(rows))

# 19 Accounting: brackets and minus signs behind negative amounts, dashes for nothing.
rows = [["account", "debit", "balance"]]
for i in range(N):
    value = thousands(amount[i])
    rows.append([rng.choice(["4000", "4100", "8000"]), gap(i, 6, value, "-"), f"({value})" if i % 3 else value])
write("accounting.csv", table(rows))

# 20 Truth values in words of several languages, with gaps.
rows = [["active", "zahlt", "ok", "n"]] + [
    [rng.choice(["TRUE", "FALSE"]), rng.choice(["ja", "nein"]), gap(i, 12, rng.choice(["Y", "N"])), count[i]]
    for i in range(N)]
write("booleans.csv", table(rows))

# 21 Measurements with units' words for gaps: 999 and "unknown" (--na).
rows = [["station", "temperature", "wind"]] + [
    [rng.choice(["S1", "S2", "S3"]), gap(i, 9, round(rng.gauss(12, 5), 1), "999"),
     gap(i, 8, round(rng.gauss(4, 1), 1), "unknown")] for i in range(N)]
write("na_words.csv", table(rows))

# 22 Scientific notation, plus signs, numbers without a leading zero.
rows = [["a", "b", "c"]] + [
    [f"{amount[i]:.3e}", f"{rng.gauss(0, 1):+.2f}", f"{share[i]:.2f}".lstrip("0") or "0"] for i in range(N)]
write("scientific.csv", table(rows))

# 23 UTF-8 without a letter beyond ASCII until late, then Windows-1252; gzip.
rows = [["name", "value"]] + [["Smith" if i < 30 else "Müller", round(amount[i], 2)] for i in range(N)]
with gzip.GzipFile(HERE / "late_latin.csv.gz", "wb", mtime=0) as file:
    file.write(table(rows).encode("windows-1252"))

# 24 Swiss: apostrophes for thousands.
rows = [["Kanton", "Einwohner", "Datum"]] + [
    [rng.choice(["ZH", "BE", "VD"]), thousands(1000 * count[i] + 7, ".", "'", 0), day(i).strftime("%d.%m.%y")]
    for i in range(N)]
write("swiss.csv", table(rows, ";"))

# 25 A wide header over two words, blanks around cells, blank lines between.
rows = [[" Item ", " Unit price ", " Stock "]] + [
    [f" {rng.choice(['bolt', 'nut', 'washer'])} ", f" {amount[i]:.2f} ", f" {count[i]} "] for i in range(N)]
write("blanks.csv", table(rows).replace("\n", "\n\n", 3))

# 26 Truth values as 0 and 1, whole numbers as levels, kinds said by the user.
rows = [["grade", "passed", "points", "teacher"]] + [
    [rng.randint(1, 4), rng.randint(0, 1), round(100 * share[i], 1), f"T{rng.randrange(3)}"] for i in range(N)]
write("said.csv", table(rows))


def cells():
    rows = [["Invoice", "Date", "Customer type", "Net", "Tax", "Paid", "Remark"]]
    for i in range(N):
        rows.append([f"INV{i:04d}", day(i), rng.choice(["retail", "trade"]), gap(i, 10, amount[i], None),
                     round(0.19 * amount[i], 2), rng.random() < 0.8, None])
    return rows


# 27 Excel: titles, typed cells, a formula with its value, an error, a second sheet, an empty first one.
import openpyxl

book = openpyxl.Workbook()
book.active.title = "Cover"
sheet = book.create_sheet("Invoices")
sheet.append(["Invoices of 2024"])
sheet.append([])
for row in cells():
    sheet.append(row)
sheet["E7"] = "#DIV/0!"
sheet["E7"].data_type = "e"
other = book.create_sheet("Rates")
for row in [["currency", "rate"], ["EUR", 1.0], ["USD", 1.1], ["CHF", 0.95]]:
    other.append(row)
book.properties.created = book.properties.modified = dt.datetime(2024, 1, 1)
book.save(HERE / "invoices.xlsx")

# 28 The old Excel.
import xlwt

book = xlwt.Workbook()
sheet = book.add_sheet("Data")
date = xlwt.easyxf(num_format_str="YYYY-MM-DD")
for r, row in enumerate(cells()):
    for c, value in enumerate(row):
        if isinstance(value, dt.date):
            sheet.write(r, c, value, date)
        elif value is not None:
            sheet.write(r, c, value)
book.save(str(HERE / "old_excel.xls"))

# 29 OpenDocument.
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

book = OpenDocumentSpreadsheet()
sheet = Table(name="Blatt 1")
for row in cells():
    line = TableRow()
    for value in row:
        if value is None:
            line.addElement(TableCell())
        elif isinstance(value, bool):
            line.addElement(TableCell(valuetype="boolean", booleanvalue=str(value).lower()))
        elif isinstance(value, (int, float)):
            line.addElement(TableCell(valuetype="float", value=value))
        elif isinstance(value, dt.date):
            line.addElement(TableCell(valuetype="date", datevalue=str(value)))
        else:
            cell = TableCell(valuetype="string")
            cell.addElement(P(text=value))
            line.addElement(cell)
    sheet.addElement(line)
book.spreadsheet.addElement(sheet)
book.save(str(HERE / "calc.ods"))

# 30 Numbers kept as texts in Excel, with codes.
book = openpyxl.Workbook()
sheet = book.active
sheet.append(["code", "amount", "share"])
for i in range(N):
    sheet.append([f"{rng.choice([7, 42, 300]):04d}", thousands(amount[i]), f"{100 * share[i]:.1f}%"])
book.properties.created = book.properties.modified = dt.datetime(2024, 1, 1)
book.save(HERE / "texts.xlsx")

# 31 Measurements with their units, a word where there is none, durations, and no header.
lines = []
for i in range(N):
    weight = "unknown" if i % 7 == 3 else f"{60 + 20 * share[i]:.1f}kg"
    seconds = 600 + 37 * i
    clock = f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    lines.append(f"S{i % 4},{15 + 10 * share[i]:.2f} °C,{weight},{clock}")
(HERE / "units.csv").write_text("sensor,temperature,weight,duration\n" + "\n".join(lines) + "\n")
(HERE / "no_header.csv").write_text(
    "".join(f"2024-{1 + i % 12:02d}-{1 + i % 28:02d},{'ABC'[i % 3]},{share[i]:.3f}\n" for i in range(N))
)

# Months by name and by number, quarters, weeks and the times of a web server's log.
rows = [["month", "short", "number", "quarter", "week", "logged", "x"]]
for i in range(N):
    d = dt.date(2021 + i // 12, i % 12 + 1, 1)
    week = d.isocalendar()
    rows.append([d.strftime("%b %Y"), d.strftime("%b-%y"), d.strftime("%m/%Y"), f"Q{(d.month + 2) // 3} {d.year}",
                 f"{week[0]}-W{week[1]:02}", d.strftime("%d/%b/%Y:10:00:") + f"{i:02} +0000", count[i]])
write("months.csv", table(rows))

# Lengths of time: in words, as laps, as ISO 8601 and as pandas writes them.
rows = [["worked", "lap", "iso", "pandas", "start"]]
for i in range(N):
    minutes, seconds = 40 + 7 * i % 100, 1200 + 97 * i % 1500
    rows.append([f"{minutes // 60}h {minutes % 60:02}m" if minutes >= 60 else f"{minutes}m",
                 f"{seconds // 60}:{seconds % 60:02}", f"PT{minutes // 60}H{minutes % 60}M",
                 f"0 days 00:{seconds // 60}:{seconds % 60:02}", f"{8 + i % 9:02}:{7 * i % 60:02}"])
write("durations.csv", table(rows))

# Numbers that are no quantities, and quantities that are no plain numbers.
rows = [["Employee No", "ean", "zip", "account_no", "pop", "amount", "BP", "salary"]]
for i in range(N):
    rows.append([10015 + 13 * i + i * i % 7, 4006381333931 + 97 * i, rng.choice([10115, 50667, 80331]),
                 700100 + 3 * (i if i != 17 else 16), f"{1 + i % 9}.{i % 10}M" if i % 3 else f"{400 + i}k",
                 [f"${amount[i]}", f"€{amount[i]}", f"{amount[i]} GBP"][i % 3], f"{110 + i}/{70 + i % 20}",
                 f"${40 + i},500"])
write("no_quantities.csv", table(rows))

# A cover, then a table with empty rows between its parts and a sum at the end.
book = openpyxl.Workbook()
book.active.title = "Cover"
for row in [["Quarterly report"], [], ["Prepared by", "A. Weber"], ["Status", "final"]]:
    book.active.append(row)
sheet = book.create_sheet("Sales")
sheet.append(["Store", "Jan", "Feb"])
for i in range(N):
    sheet.append([f"Store {i}", amount[i], count[i]])
    if i % 10 == 9:
        sheet.append([])
sheet.append(["Total", round(sum(amount), 2), sum(count)])
book.save(HERE / "cover.xlsx")

# An object a line, with a list in it.
lines = (f'{{"id": "E{i}", "x": {amount[i]}, "region": "{region[i]}", "ok": {str(i % 2 == 0).lower()}, "tags": [{i}]}}\n'
         for i in range(N))
write("events.jsonl", "".join(lines))

# A bank's statement: lines of two cells above the table, years of two digits before and after 2000, dashes for decimals.
rng = random.Random(31)
rows = [["Konto", "DE89 3704 0044", "", "", ""], ["Zeitraum", "01.01.2024 - 31.12.2024", "", "", ""]]
rows.append(["Buchung", "Geboren", "Art", "Betrag", "Pauschale"])
for i in range(N):
    birth = dt.date(1962 + i, 1 + i % 12, 1 + i % 28)
    rows.append([day(i).strftime("%d.%m.%Y"), birth.strftime("%d.%m.%y"), rng.choice(["Miete", "Lohn"]),
                 thousands(rng.gauss(0, 900), ",", "."), f"{rng.randint(5, 90) * 25}.-"])
write("bank_statement.csv", table(rows, ";"), "windows-1252", "\r\n")

# A list of SAP: bars on both sides, rules, dates of eight digits, minus signs behind, a sum.
lines, net = ["Purchase orders", " " + "-" * 44, "|Doc. date |Plant |Quantity |  Net value|", " " + "-" * 44], 0
for i in range(N):
    value = round(rng.lognormvariate(6, 1), 2)
    net += value
    quantity = f"{rng.randint(1, 40)}{'-' if i % 10 == 4 else ''}"
    lines.append(f"|{day(i):%Y%m%d}  |{rng.choice([1000, 1100])}  |{quantity:>8} |{thousands(value, ',', '.'):>11}|")
lines += [" " + "-" * 44, f"|Total     |      |         |{thousands(net, ',', '.'):>11}|", " " + "-" * 44]
write("sap_list.txt", "\n".join(lines) + "\n", newline="\r\n")

# Results of a laboratory: bounds, groups of ages, and a pace.
rows = [["CRP", "age group", "troponin", "pace"]]
for i in range(N):
    value = rng.lognormvariate(0, 1)
    rows.append(["<0.5" if value < 0.5 else f"{value:.1f}", rng.choice(["<18", "18-64", ">64"]),
                 "≥ 100 ng/mL" if i % 9 == 4 else f"{rng.randint(3, 90)} ng/mL", f"{4 + i % 3}:{rng.randint(10, 59)} min/km"])
write("laboratory.csv", table(rows))

# Objects in objects, and what is not in all of them.
extra = lambda i: ', "extra": {"n": 1}' if i % 4 == 1 else ""
at = lambda i: f'{{"lat": {48 + share[i]:.4f}}}'
plan = lambda i: "free" if i % 3 else "pro"
user = lambda i: f'{{"plan": "{plan(i)}", "at": {at(i)}}}'
lines = (f'{{"id": "E{i}", "user": {user(i)}, "x": {amount[i]}{extra(i)}, "tags": [{i}]}}\n' for i in range(N))
write("nested.jsonl", "".join(lines))

# A hidden sheet with a table in front of the one that is seen.
book = openpyxl.Workbook()
book.active.title = "Lookup"
for i in range(N):
    book.active.append([f"k{i}", i])
book.active.sheet_state = "hidden"
sheet = book.create_sheet("Hours")
sheet.append(["Timesheet", "", "", "", "as of", day(9)])
sheet.append(["day", "project", "task", "hours", "rate", "paid"])
for i in range(N):
    sheet.append([day(i), rng.choice(["Alpha", "Beta"]), rng.choice("uvw"), rng.choice([6, 7.5, 8]),
                  rng.choice([45, 60]), rng.choice(["Y", "N"])])
book.active = 1
book.properties.created = book.properties.modified = dt.datetime(2024, 1, 1)
book.save(HERE / "hidden_sheet.xlsx")
