"""Golden values for large features with hardly any penalty, by arithmetic with sixty digits.

Run from this folder; needs nothing but Python:

    python make_units.py

Writes units.json: two samples of whole numbers around 1e6, one skewed, one nearly collinear, queries, and for each loss,
intercept and variant the depths at reg = 1e-8. Smooth losses: Newton's method with a step length that is halved until
the objective falls; `left` is the largest square of a Newton decrement that was left. Hinge: a primal-dual
interior-point method; there it is the largest complementarity.
"""

import json
import platform
from decimal import Decimal as D
from decimal import getcontext
from pathlib import Path

getcontext().prec = 60
REG = D(float("1e-8"))
LN2 = D(2).ln()


class Stream:
    """A linear congruential generator: the same numbers everywhere."""

    def __init__(self, seed):
        self.state = seed

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % end


def samples():
    stream = Stream(1)
    skewed = [
        [stream.below(2000) ** 2 + 1, stream.below(900) * 1000, stream.below(3) * 10**6]
        for _ in range(40)
    ]
    stream = Stream(2)
    near = []
    for _ in range(40):
        a, b = stream.below(4 * 10**6) - 2 * 10**6, stream.below(4 * 10**6) - 2 * 10**6
        near.append([a, b, a + b + stream.below(20) - 10])
    return {"skewed": skewed, "nearly collinear": near}


def logistic(m):
    e = (-abs(m)).exp()
    value = (max(-m, D(0)) + (1 + e).ln()) / LN2
    return value, -(e if m >= 0 else D(1)) / (1 + e) / LN2, e / (1 + e) ** 2 / LN2


def squared_hinge(m):
    short = max(1 - m, D(0))
    return short * short, -2 * short, D(2) if m < 1 else D(0)


def exponential(m):
    e = (-m).exp()
    return e, -e, e


def solve(matrix, rhs):
    """Gauss, with the pivot that is largest in its row."""
    n = len(rhs)
    rows = [[*row, r] for row, r in zip(matrix, rhs)]
    for k in range(n):
        best = max(
            range(k, n),
            key=lambda i: abs(rows[i][k]) / max(abs(x) for x in rows[i][:n]),
        )
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    x = [D(0)] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][
            i
        ]
    return x


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), D(0))


def problem(intercept, rows, query, reg=REG):
    """The rows with their signs, their masses, and the penalties of the coordinates."""
    constant = [] if intercept == "none" else [D(1)]
    signed = [[D(x) for x in row] + constant for row in rows]
    signed.append([-D(x) for x in query] + [-c for c in constant])
    mass = [D(1) / (2 * len(rows))] * len(rows) + [D(1) / 2]
    penalty = [reg] * len(signed[0])
    if intercept == "free":
        penalty[-1] = D(0)
    return signed, mass, penalty


def moments(weights, signed):
    q = len(signed[0])
    pairs = list(zip(weights, signed))
    return [
        [sum((h * u[i] * u[j] for h, u in pairs), D(0)) for j in range(q)]
        for i in range(q)
    ]


def hinge(intercept, rows, query, reg=REG):
    """Risk and objective at the minimum, and the complementarity that is left.

    Margins m + short - over = 1, multipliers 0 < a < 1, on the way to a * over = (1 - a) * short = 0.
    """
    signed, mass, penalty = problem(intercept, rows, query, reg)
    q, n = len(penalty), len(signed)
    theta, a, over, short = [D(0)] * q, [D("0.5")] * n, [D(9)] * n, [D(10)] * n
    for _ in range(400):
        m = [dot(u, theta) for u in signed]
        mu = (
            sum(c * (x * s + (1 - x) * t) for c, x, s, t in zip(mass, a, over, short))
            / 2
        )
        if mu < D("1e-40"):
            break
        aim = mu / 10
        first = [aim - x * s for x, s in zip(a, over)]
        second = [aim - (1 - x) * t for x, t in zip(a, short)]
        give = [1 / (t / (1 - x) + s / x) for x, s, t in zip(a, over, short)]
        want = [
            1 - (m[k] + short[k] - over[k]) - second[k] / (1 - a[k]) + first[k] / a[k]
            for k in range(n)
        ]
        matrix = moments([c * g for c, g in zip(mass, give)], signed)
        pull = [c * (x + g * w) for c, x, g, w in zip(mass, a, give, want)]
        rhs = [
            dot(pull, [u[j] for u in signed]) - 2 * penalty[j] * theta[j]
            for j in range(q)
        ]
        for j in range(q):
            matrix[j][j] += 2 * penalty[j]
        step = solve(matrix, rhs)
        turn = [g * (w - dot(u, step)) for g, w, u in zip(give, want, signed)]
        rise = [(f - s * t) / x for f, s, t, x in zip(first, over, turn, a)]
        fall = [(f + s * t) / (1 - x) for f, s, t, x in zip(second, short, turn, a)]
        fastest = max(
            max(-t / x, t / (1 - x), -r / s, -f / y)
            for t, x, r, s, f, y in zip(turn, a, rise, over, fall, short)
        )
        length = D(1) if fastest <= D("0.99") else D("0.99") / fastest
        theta = [x + length * y for x, y in zip(theta, step)]
        a = [x + length * y for x, y in zip(a, turn)]
        over = [x + length * y for x, y in zip(over, rise)]
        short = [x + length * y for x, y in zip(short, fall)]
    risk = sum(c * max(1 - dot(u, theta), D(0)) for c, u in zip(mass, signed))
    return risk, risk + sum(p * t * t for p, t in zip(penalty, theta)), mu


def depth(loss, intercept, rows, query, reg=REG):
    """Risk and objective at the minimum, and the square of the last Newton decrement."""
    if loss is None:
        return hinge(intercept, rows, query, reg)
    signed, mass, penalty = problem(intercept, rows, query, reg)
    q = len(penalty)

    def at(theta):
        each = [loss(dot(u, theta)) for u in signed]
        risk = dot(mass, [e[0] for e in each])
        return each, risk, risk + sum(p * t * t for p, t in zip(penalty, theta))

    theta = [D(0)] * q
    each, risk, objective = at(theta)
    for _ in range(500):
        slopes = [c * e[1] for c, e in zip(mass, each)]
        bends = [c * e[2] for c, e in zip(mass, each)]
        gradient = [
            dot(slopes, [u[j] for u in signed]) + 2 * penalty[j] * theta[j]
            for j in range(q)
        ]
        hessian = moments(bends, signed)
        for j in range(q):
            # A trace where there is no curvature at all: it slows the method down and changes no minimum.
            hessian[j][j] += 2 * penalty[j] + D("1e-30")
        step = solve(hessian, [-g for g in gradient])
        decrement = -dot(gradient, step)
        if decrement < D("1e-45"):
            break
        length = D(1)
        while True:
            there = [t + length * s for t, s in zip(theta, step)]
            found = at(there)
            if found[2] <= objective - D("1e-4") * length * decrement or length < D(
                "1e-30"
            ):
                break
            length /= 2
        theta, (each, risk, objective) = there, found
    return risk, objective, decrement


def main():
    losses = {
        "logistic": logistic,
        "hinge": None,
        "squared-hinge": squared_hinge,
        "exponential": exponential,
    }
    sets, worst = [], D(0)
    for name, rows in samples().items():
        queries = [
            rows[0],
            rows[7],
            [sum(x) // len(rows) for x in zip(*rows)],
            [3 * x for x in rows[3]],
        ]
        cases = []
        for method, loss in losses.items():
            for intercept in ["free", "penalised", "none"]:
                found = [depth(loss, intercept, rows, query) for query in queries]
                worst = max(worst, *(f[2] for f in found))
                numbers = {
                    "risk": [float(f[0]) for f in found],
                    "objective": [float(f[1]) for f in found],
                }
                cases.append({"method": method, "intercept": intercept, **numbers})
        sets.append({"name": name, "rows": rows, "queries": queries, "cases": cases})
    # Half of the sample far away, and a query beside the other half: margins are differences of numbers that are
    # up to 1e14 times as large.
    beside = []
    for method, far, near, reg in [
        ("logistic", 10**8 + 1, 2.0**-20, 9.1e-16),
        ("logistic", 10**7 + 1, 2.0**-20, 9.1e-14),
        ("logistic", 2**20, 2.0**-20, 9.1e-14),
        ("logistic", 2**20, 2.0**-12, 1e-8),
        ("exponential", 2**20, 2.0**-12, 6e-9),
        ("exponential", 2**20, 2.0**-12, 1e-8),
        ("squared-hinge", 2**20, 2.0**-12, 1e-8),
    ]:
        rows, query = [[0]] * 3 + [[far]] * 3, [-near]
        risk, _, left = depth(losses[method], "free", rows, query, D(reg))
        worst = max(worst, left)
        case = {"method": method, "rows": rows, "query": query, "reg": reg}
        beside.append({**case, "risk": float(risk)})
    made = {
        "python": platform.python_version(),
        "digits": getcontext().prec,
        "left": float(worst),
    }
    text = json.dumps(
        {"made": made, "reg": float(REG), "sets": sets, "beside": beside}, indent=1
    )
    Path("units.json").write_text(text + "\n")
    print(f"largest left: {worst:.1e}")


if __name__ == "__main__":
    main()
