# SPDX-License-Identifier: Apache-2.0
"""Compares the bit rates that encoders need for the same quality (Bjontegaard's difference, VCEG-M33, with monotone
curves)."""
import math


class NoComparison(SystemExit):
    """Two curves that cannot be compared; a script that does not catch it ends with the message."""


def curve(points):
    """log(rate) by quality: a monotone cubic through the points (Fritsch and Carlson)."""
    # Of points of the same quality the one with the fewest bits counts.
    points = sorted({q: math.log(rate) for rate, q in sorted(points, reverse=True)}.items())
    if len(points) < 2:
        raise NoComparison(f"a curve has a single quality: {points}")
    x = [p[0] for p in points]
    y = [p[1] for p in points]
    steps = [(y[i + 1] - y[i]) / (x[i + 1] - x[i]) for i in range(len(x) - 1)]
    slopes = [steps[0]] + [
        0 if steps[i - 1] * steps[i] <= 0 else 2 * steps[i - 1] * steps[i] / (steps[i - 1] + steps[i])
        for i in range(1, len(steps))] + [steps[-1]]

    def at(q):
        i = max(k for k in range(len(x) - 1) if x[k] <= q or k == 0)
        h = x[i + 1] - x[i]
        t = (q - x[i]) / h
        return ((1 + 2 * t) * (1 - t) ** 2 * y[i] + t * (1 - t) ** 2 * h * slopes[i]
                + t * t * (3 - 2 * t) * y[i + 1] + t * t * (t - 1) * h * slopes[i + 1])
    return x[0], x[-1], at


def bd_rate(reference, points):
    """The bits for the same quality against the reference's, as a ratio, over the qualities that both have."""
    low_a, high_a, a = curve(reference)
    low_b, high_b, b = curve(points)
    low, high = max(low_a, low_b), min(high_a, high_b)
    if high <= low:
        raise NoComparison(f"two curves have no quality in common: {reference} and {points}")
    count = 200
    middle = [low + (high - low) * (i + 0.5) / count for i in range(count)]
    return math.exp(sum(b(q) - a(q) for q in middle) / count)


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))
