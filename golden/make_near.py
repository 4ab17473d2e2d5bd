"""Golden values for kernels that hardly tell some rows apart, by arithmetic with sixty digits.

Run from this folder; needs nothing but Python:

    python make_near.py

Writes klr_near.json: samples with rows so near to each other, or kernels so wide, that the Gram matrix is singular to
sixteen digits, while a query still sees the difference. For each the risk and the objective of kernel logistic
regression, and the norm of the classifier, by Newton's method on the equations of the dual variables; `left` is the
largest residual of these equations.
"""

import json
import platform
from decimal import Decimal as D
from decimal import getcontext
from pathlib import Path

from make_units import dot, logistic, solve

getcontext().prec = 60


def gaussian(gamma):
    def kernel(x, y):
        return (-D(gamma) * sum((D(a) - D(b)) ** 2 for a, b in zip(x, y))).exp()

    return kernel


def linear(x, y):
    return dot([D(a) for a in x], [D(b) for b in y])


def depth(kernel, intercept, rows, query, reg):
    """Risk and objective at the minimum, the norm of the classifier, and the residual that is left."""
    points, reg = [*rows, query], D(reg)
    n, free = len(points), intercept == "free"
    shift = D(1) if intercept == "penalised" else D(0)
    signs = [1] * len(rows) + [-1]
    mass = [D(1) / (2 * len(rows))] * len(rows) + [D(1) / 2]
    gram = [[kernel(x, y) + shift for y in points] for x in points]
    a, b = [D(0)] * n, D(0)

    def look(a, b):
        f = [dot(row, a) for row in gram]
        losses = [logistic(s * (x + b)) for s, x in zip(signs, f)]
        risk = sum(c * loss[0] for c, loss in zip(mass, losses))
        return f, losses, risk, risk + reg * dot(a, f)

    for _ in range(500):
        f, losses, risk, objective = look(a, b)
        slopes = [c * s * loss[1] for c, s, loss in zip(mass, signs, losses)]
        residual = [-(2 * reg * x + g) for x, g in zip(a, slopes)]
        left = max(abs(r) for r in residual) / max(abs(g) for g in slopes)
        if free:
            residual.append(-sum(a))
            left = max(left, abs(sum(a)))
        if left < D("1e-35"):
            break
        bends = [c * loss[2] for c, loss in zip(mass, losses)]
        matrix = [[h * k for k in row] for h, row in zip(bends, gram)]
        for i in range(n):
            matrix[i][i] += 2 * reg
            if free:
                matrix[i].append(bends[i])
        if free:
            matrix.append([D(1)] * n + [D(0)])
        step, length = solve(matrix, residual), D(1)
        while True:
            to = [x + length * s for x, s in zip(a, step)]
            above = b + (length * step[n] if free else 0)
            if look(to, above)[3] <= objective * (1 + D("1e-45")) or length < D(
                "1e-12"
            ):
                break
            length /= 2
        a, b = to, above
    return risk, objective, dot(a, f).sqrt(), left


def main():
    smooth = [[0.585], [0.738], [0.609], [0.115], [0.312], [0.173], [0.112]]
    pair, closer = [[0.0], [1.15e-7]], [[0.0], [1e-8]]
    cases, worst = [], D(0)
    for kernel, gamma, rows, query, regs in [
        ("gaussian", 0.5, pair, [0.001], [1e-6, 1e-4]),
        ("gaussian", 0.5, pair, [0.0003], [1e-7]),
        ("gaussian", 0.5, pair, [1.0], [1e-3, 0.1]),
        ("gaussian", 0.5, closer, [0.001], [1e-6]),
        ("gaussian", 1.0, [[0.0], [5e-8]], [0.5], [1e-4]),
        ("gaussian", 1.0, [[0.0], [5e-8], [2.0]], [5e-8 + 1e-6], [1e-6, 0.01]),
        ("gaussian", 0.05, smooth, [5.344091608803345], [1e-4, 0.9595319253847504]),
        ("gaussian", 0.05, smooth, [0.4], [1e-5, 0.01]),
        ("linear", None, [[1.0, 0.0], [1.0, 1.15e-7]], [1.0, 0.001], [1e-6]),
    ]:
        for reg in regs:
            for intercept in ["free", "penalised", "none"]:
                of = linear if gamma is None else gaussian(gamma)
                risk, objective, norm, left = depth(of, intercept, rows, query, reg)
                worst = max(worst, left)
                case = {
                    "kernel": kernel,
                    "gamma": gamma,
                    "rows": rows,
                    "query": query,
                    "reg": reg,
                }
                numbers = {
                    "risk": float(risk),
                    "objective": float(objective),
                    "norm": float(norm),
                }
                cases.append({**case, "intercept": intercept, **numbers})
    made = {
        "python": platform.python_version(),
        "digits": getcontext().prec,
        "left": float(worst),
    }
    Path("klr_near.json").write_text(
        json.dumps({"made": made, "cases": cases}, indent=1) + "\n"
    )
    print(f"{len(cases)} cases, largest left: {worst:.1e}")


if __name__ == "__main__":
    main()
