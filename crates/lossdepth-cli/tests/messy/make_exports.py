"""Makes messy files as programs export them, each with a few planted errors that the oddest rows must be.

`python make_exports.py`; the standard library is enough. `tests/suite/planted.rs` knows the errors.
"""

import datetime as dt
import json
import math
import random
from pathlib import Path

HERE = Path(__file__).parent
N = 140
DAY = dt.timedelta(days=1)


def write(name, lines, encoding="utf-8", newline="\n"):
    (HERE / name).write_bytes("".join(line + newline for line in lines).encode(encoding))


def german(value, digits=2):
    return f"{value:,.{digits}f}".replace(",", "\0").replace(".", ",").replace("\0", ".")


def datev():
    """A stack of entries: a record about the file that is longer than the table, Windows-1252."""
    rng = random.Random(1)
    lines = [
        '"EXTF";700;21;"Buchungsstapel";12;20240701120000000;;"RE";"admin";"";1001;12345;20240101;4;20240101;20240630',
        "Umsatz (ohne Soll/Haben-Kz);Soll/Haben-Kennzeichen;WKZ Umsatz;Kurs;Konto;Gegenkonto;BU-Schlüssel;Belegdatum;"
        "Belegfeld 1;Buchungstext",
    ]
    for i in range(N):
        account = rng.choice([4400, 4400, 4300, 6300])
        amount, currency, key = rng.lognormvariate(5, 0.7), "EUR", {4400: 3, 4300: 2, 6300: 9}[account]
        amount = amount * 300 if i == 20 else amount
        currency = "USD" if i == 90 else currency
        key = 2 if i == 60 and account != 4300 else key
        day = (dt.date(2024, 1, 2) + DAY * i).strftime("%d%m").lstrip("0")
        lines.append(
            f"{german(amount).replace('.', '')};{'H' if account == 6300 else 'S'};{currency};;{rng.randint(10001, 10005)};"
            f'{account};{key};{day};RE-{2024000 + i};"Rechnung"'
        )
    write("datev.csv", lines, "cp1252", "\r\n")


def access():
    """The log of a web server."""
    rng = random.Random(2)
    now, lines = dt.datetime(2024, 3, 14, 10), []
    for i in range(2 * N):
        now += dt.timedelta(seconds=rng.randint(1, 60))
        path, size = rng.choice([("/index.html", 5120), ("/about.html", 2210), ("/logo.png", 18211), ("/api/items", 900)])
        status, size = (304, 0) if rng.random() < 0.35 else (200, size)
        method, agent = "GET", rng.choice(["Mozilla/5.0 (X11; Linux x86_64)", "Mozilla/5.0 (Windows NT 10.0)", "curl/8.1"])
        size = 98211234 if i == 60 else size
        status = 500 if i == 150 else status
        method = "DELETE" if i == 220 else method
        lines.append(
            f"10.0.{rng.randint(0, 3)}.{rng.randint(1, 250)} - - [{now:%d/%b/%Y:%H:%M:%S} +0000] "
            f'"{method} {path} HTTP/1.1" {status} {size} "-" "{agent}"'
        )
    write("access.log", lines)


def questionnaire():
    """Answers from 1 to 5, and 99 and 98 for none."""
    rng = random.Random(3)
    lines = ["resp;sex;age;income;" + ";".join(f"q{k:02}" for k in range(1, 17))]
    for i in range(N):
        mood = rng.gauss(0, 1)
        answers = [min(5, max(1, round(3 + 0.9 * mood + rng.gauss(0, 0.6)))) for _ in range(16)]
        answers = [rng.choice([99, 99, 98]) if rng.random() < 0.05 else answer for answer in answers]
        income = -99 if rng.random() < 0.1 else round(rng.lognormvariate(7.9, 0.3), -1)
        age, sex = rng.randint(18, 70), rng.choice([1, 2])
        answers[2] = 33 if i == 50 else answers[2]
        age = 190 if i == 100 else age
        sex = 9 if i == 130 else sex
        lines.append(f"R{i + 1:04};{sex};{age};{income:.0f};" + ";".join(map(str, answers)))
    write("questionnaire.csv", lines)


def pump():
    """A logger with comments above and between the rows, seconds since 1970, a line of units, delimiters too many."""
    rng = random.Random(4)
    lines = ["# Logger: AX-200, serial 00123", "# Start: 2024-01-01T00:00:00Z", "#", "time,flow,pressure,,level,status,"]
    lines.append("s,l/min,bar,,m,,")
    for i in range(N):
        level, flow = 2 + math.sin(i / 20) * 0.3 + rng.gauss(0, 0.01), 40 + 10 * math.sin(i / 20) + rng.gauss(0, 0.6)
        pressure, time, status = 1 + flow * 0.05 + rng.gauss(0, 0.02), 1704067200 + 600 * i + rng.randint(0, 9), "RUN"
        flow = 4.02 if i == 60 else flow
        level = -9.9 if i == 80 else level
        status = "ALARM" if i == 100 else status
        time = 1700 if i == 120 else time
        lines.append(f"{time},{flow:.2f},{pressure:.3f},,{level:.3f},{status},")
        if i == 70:
            lines.append("# sensor cleaned, new seal")
    write("pump.csv", lines, newline="\r\n")


def stores():
    """Groups with a sum below each, negatives in parentheses."""
    rng = random.Random(5)
    lines = ["Profit and loss by store,,,,,", "USD,,,,,", ",,,,,", "Region,Store,Revenue,Cost of goods,Rent,Result"]

    def money(value):
        return f'"{value:,.2f}"' if value >= 0 else f'"({-value:,.2f})"'

    for region in ("East", "West", "North", "South"):
        total = [0.0] * 4
        for k in range(1, 36):
            revenue = rng.lognormvariate(11, 0.4)
            values = [revenue, revenue * rng.gauss(0.6, 0.03), rng.gauss(9000, 1500)]
            values.append(values[0] - values[1] - values[2])
            store = f"{region[0]}{k:02}"
            values[2] = 90500 if store == "E10" else values[2]
            values[3] = -3 * values[3] if store == "W20" else values[3]
            values[1] = -values[1] if store == "N05" else values[1]
            values = [round(value, 2) for value in values]
            total = [a + b for a, b in zip(total, values, strict=True)]
            lines.append(f"{region},{store}," + ",".join(map(money, values)))
        lines += [f"Subtotal {region},," + ",".join(map(money, total)), ",,,,,"]
    write("stores.csv", lines)


def movements():
    """A list of SAP with its title and its header on every page, signs behind the numbers."""
    rng = random.Random(6)
    head = "|Material|Bewegungsart|Menge       |BME|Betrag Hauswährung|Buch.dat. |Benutzer|"
    lines = []
    for i in range(N):
        if i % 50 == 0:
            lines += [f"18.03.2024          Dynamische Listenausgabe          {i // 50 + 1}", "", "-" * 80, head, "-" * 80]
        count, material, out = rng.randint(1, 80), rng.choice([11, 12, 13]), rng.random() < 0.25
        price, kind, sign = {11: 3.2, 12: 14.5, 13: 99.0}[material], "601" if out else "101", "-" if out else " "
        day = (dt.date(2024, 1, 2) + DAY * (i // 3)).strftime("%d.%m.%Y")
        shown, value = german(1000 * count if i == 50 else count, 3) + sign, german(count * price) + sign
        day = "31.12.9999" if i == 110 else day
        value = german(count * price * 20) + sign if i == 80 else value
        lines.append(f"|{100000 + material}  |{kind:<12}|{shown:>12}|ST |{value:>18}|{day}|{rng.choice(['MUELLER', 'BATCH']):<8}|")
    write("movements.txt", [*lines, "-" * 80], "cp1252", "\r\n")


def faktury():
    """Polish invoices in Windows-1250, with blanks between thousands."""
    rng = random.Random(7)

    def zloty(value):
        return german(value).replace(".", " ") + " zł"

    lines = ["Numer;Data;Termin;Miasto;Netto;Stawka;VAT;Brutto;Zapłacono;Płatność"]
    for i in range(N):
        day, net, rate = dt.date(2024, 1, 3) + DAY * i, rng.lognormvariate(6.5, 0.5), rng.choice([23, 23, 8, 5])
        due, tax, kind = day + DAY * rng.choice([7, 14, 30]), net * rate / 100, rng.choice(["przelew", "gotówka", "karta"])
        shown = zloty(-net if i == 40 else net)
        due = day - 400 * DAY if i == 80 else due
        kind = "przelw" if i == 110 else kind
        lines.append(
            f"FV/{i + 1}/2024;{day:%d.%m.%Y};{due:%d.%m.%Y};{rng.choice(['Łódź', 'Kraków', 'Gdańsk'])};{shown};{rate}%;"
            f"{zloty(net * 0.9 if i == 130 else tax)};{zloty(net + tax)};{rng.choice(['TAK', 'NIE'])};{kind}"
        )
    write("faktury.csv", lines, "cp1250", "\r\n")


def switches():
    """Addresses of networks and devices, versions, times since the start."""
    rng = random.Random(8)
    lines = ["Host,MAC,IP,Model,Firmware,Uptime,CPU,Temp,CRC errors"]
    for i in range(N):
        model = rng.choice(["C9200", "C9300"])
        mac = ":".join(f"{rng.randint(0, 255):02x}" for _ in range(6))
        address, version = f"10.20.{i // 50}.{rng.randint(2, 250)}", {"C9200": "v16.12.4", "C9300": "v17.3.10"}[model]
        address = "192.168.77.3" if i == 30 else address
        version = "v12.2.55" if i == 70 else version
        temp, errors = "88" if i == 100 else f"{rng.gauss(41, 3):.0f}", 90311 if i == 120 else rng.randint(0, 40)
        lines.append(
            f'sw-{i:03},{mac},{address},{model},{version},"{rng.randint(20, 400)} days, {rng.randint(0, 23)}:'
            f'{rng.randint(0, 59):02}:{rng.randint(0, 59):02}",{rng.randint(20, 55)}%,{temp} °C,{errors}'
        )
    write("switches.csv", lines)


def houses():
    """Places in degrees, minutes and seconds."""
    rng = random.Random(9)

    def place(degrees, side):
        whole, minutes = int(degrees), int(degrees % 1 * 60)
        return f"{whole}°{minutes:02}'{(degrees - whole - minutes / 60) * 3600:04.1f}\"{side}"

    lines = ["Objekt;Kaufpreis;Wohnfläche;Baujahr;Balkon;Breite;Länge"]
    for i in range(N):
        area, built = max(28, rng.gauss(85, 28)), rng.randint(1950, 2022)
        price = area * (3200 + (built - 1950) * 25) * rng.lognormvariate(0, 0.08)
        north, east, side = 48 + rng.random() * 0.25, 11.4 + rng.random() * 0.3, "E"
        built = 1194 if i == 30 else built
        north = 58.02 if i == 70 else north
        side = "W" if i == 100 else side
        price = price / 10 if i == 120 else price
        lines.append(
            f"EX{90000 + i * 11};{german(price, 0)} €;{german(area, 1)} m²;{built};{rng.choice(['ja', 'nein'])};"
            f"{place(north, 'N')};{place(east, side)}"
        )
    write("houses.csv", lines)


def findings():
    """A laboratory that marks what is out of range behind the number."""
    rng = random.Random(10)
    lines = ["Fallnr;Abnahme;Hb g/dl;CRP mg/l;Kalium;Natrium"]
    for i in range(N):
        time, crp = dt.datetime(2024, 5, 1, 6) + dt.timedelta(hours=i), rng.lognormvariate(0.8, 1)
        hb, kalium, natrium = rng.gauss(13.8, 1.2), rng.gauss(4.2, 0.35), rng.gauss(140, 2.5)
        hb = 1.4 if i == 30 else hb
        crp = 990 if i == 70 else crp
        kalium = 9.85 if i == 100 else kalium
        natrium = 14 if i == 120 else natrium
        shown = "<0,6" if crp < 0.6 else german(crp, 1) + (" H" if crp > 5 else "")
        mark = " H" if kalium > 5 else " L" if kalium < 3.6 else ""
        lines.append(
            f"{20240000 + 7 * i};{time:%d.%m.%Y %H:%M};{german(hb, 1)}{' L' if hb < 12 else ''};{shown};"
            f"{german(kalium)}{mark};{natrium:.0f}"
        )
    write("findings.csv", lines, "cp1252", "\r\n")


def station():
    """A log of a weather station between blanks, -999 for what was not measured."""
    rng = random.Random(11)
    lines = ["date       hour   temp  dewp   wind  gust    pres"]
    for i in range(N):
        temp = 10 + 6 * math.sin(i / 24 * 2 * math.pi) + rng.gauss(0, 1)
        dew, wind, pressure = temp - abs(rng.gauss(4, 1)), abs(rng.gauss(4, 1.5)), rng.gauss(1013, 4)
        gust = wind * 1.6 + abs(rng.gauss(0, 0.5))
        dew = -999 if rng.random() < 0.08 else dew
        temp = 105.0 if i == 30 else temp
        gust = 0.1 if i == 71 else gust
        pressure = 101.3 if i == 100 else pressure
        day = dt.date(2024, 4, 1) + DAY * (i // 24)
        lines.append(f"{day} {i % 24:4} {temp:7.1f} {dew:6.1f} {wind:5.1f} {gust:5.1f} {pressure:7.1f}")
    write("station.txt", lines)


def devices():
    """Objects a line, with milliseconds since 1970."""
    rng = random.Random(12)
    now, lines = 1710400000000, []
    for i in range(N):
        now += 60000 + rng.randint(-400, 400)
        device = rng.choice(["s1", "s2", "s3"])
        temp, battery, time = {"s1": 21, "s2": 4, "s3": 38}[device] + rng.gauss(0, 0.6), 3.9 - i * 0.0005, now
        temp = -127.0 if i == 50 else temp
        battery = 0 if i == 70 else battery
        time = now // 1000 if i == 100 else time
        device, temp = ("s2", 37.7) if i == 120 else (device, temp)
        payload = {"temp": round(temp, 2), "bat": round(battery + rng.gauss(0, 0.01) * (battery > 0), 3)}
        lines.append(json.dumps({"ts": time, "device": device, "payload": payload, "ok": True}))
    write("devices.jsonl", lines)


for make in (datev, access, questionnaire, pump, stores, movements, faktury, switches, houses, findings, station, devices):
    make()
