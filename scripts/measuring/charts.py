# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG that follow the reader's light or dark colours (prefers-color-scheme)."""
import html
import math

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 46, 56
# Colours that differ in lightness too, for readers who do not tell them apart by hue.
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.title { font-size: 15px; font-weight: 600; }
.back { fill: #ffffff; } .grid { stroke: #d0d7de; } .axis { stroke: #57606a; }
.a { stroke: #0a58ca; fill: #0a58ca; } .b { stroke: #bf5a00; fill: #bf5a00; } .c { stroke: #57606a; fill: #57606a; }
.line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
text.a, text.b, text.c { stroke: none; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.back { fill: #0d1117; } .grid { stroke: #30363d; } .axis { stroke: #8b949e; }
.a { stroke: #58a6ff; fill: #58a6ff; } .b { stroke: #f0a050; fill: #f0a050; } .c { stroke: #a8b1bb; fill: #a8b1bb; }
.line { fill: none; }
}
</style>"""


def text(x, y, content, anchor="start", kind=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"' + (f' class="{kind}"' if kind else "")
            + f">{html.escape(content)}</text>")


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def document(chart, height, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{html.escape(chart["alternative"])}">', STYLE,
        f'<rect width="{WIDTH}" height="{height}" rx="6" class="back"/>',
        text(LEFT, 26, chart["title"], kind="title"), *parts, "</svg>", ""])


def kinds(names):
    """A class of the style for each name, in the order in which they come."""
    return {name: "abc"[at % 3] for at, name in enumerate(dict.fromkeys(names))}


def steps(low, high, most=6):
    """Round numbers between two values."""
    size = 10 ** math.floor(math.log10((high - low) / most))
    size *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (size * factor) <= most)
    first = math.ceil(low / size)
    return [round(size * at, 10) for at in range(first, math.floor(high / size) + 1)]


def mark(kind, at, x, y):
    """A disc, a square or a triangle, so that the series differ without colour."""
    if at % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="{kind}"/>'
    if at % 3 == 1:
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" class="{kind}"/>'
    return f'<path d="M{x:.1f} {y - 5:.1f} l5 9 h-10 z" class="{kind}"/>'


class Labels:
    """Places labels beside their points where they meet neither each other, nor points, nor the chart's edges."""

    # From the point to the text's base line, and the side of the text that lies there.
    SPOTS = [(0, -9, "middle"), (0, 19, "middle"), (-8, -7, "end"), (9, 4, "start"), (-9, 4, "end"), (9, 17, "start"),
             (-9, 17, "end"), (9, -7, "start")]

    def __init__(self, points):
        self.taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in points]

    def place(self, x, y, content, preferred):
        """Where a point's label stands: x, y and anchor. The spot with the index `preferred` is tried first, and taken
        if none is free."""
        width, first = 8 * len(content), None
        for dx, dy, anchor in [self.SPOTS[preferred]] + self.SPOTS:
            left = x + dx - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
            box = (left, y + dy - 10, left + width, y + dy + 2)
            first = first or (box, (x + dx, y + dy, anchor))
            apart = all(box[2] < t[0] or t[2] < box[0] or box[3] < t[1] or t[3] < box[1] for t in self.taken)
            if apart and LEFT <= box[0] and box[2] <= WIDTH - 2:
                first = (box, (x + dx, y + dy, anchor))
                break
        self.taken.append(first[0])
        return first[1]


def scatter(chart):
    """Points with names, joined within a series: one quantity against another."""
    points = chart["points"]
    scale = math.log10 if chart.get("logarithmic") else float
    xs, ys = [scale(p["x"]) for p in points], [p["y"] for p in points]
    pad_x, pad_y = (max(xs) - min(xs)) * 0.09, (max(ys) - min(ys)) * 0.08
    low_x, high_x, low_y, high_y = min(xs) - pad_x, max(xs) + pad_x, min(ys) - pad_y, max(ys) + pad_y

    def place(x, y):
        return (LEFT + (scale(x) - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT),
                TOP + (high_y - y) / (high_y - low_y) * (HEIGHT - TOP - BOTTOM))
    parts = []
    for value in steps(low_y, high_y):
        _, y = place(points[0]["x"], value)
        parts += [line(LEFT, y, WIDTH - RIGHT, y, "grid"), text(LEFT - 8, y + 4, f"{value:g}", "end")]
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10] if chart.get("logarithmic") else steps(low_x, high_x)
    for value in ticks:
        if low_x <= scale(value) <= high_x:
            x, _ = place(value, low_y)
            parts += [line(x, TOP, x, HEIGHT - BOTTOM, "grid"), text(x, HEIGHT - BOTTOM + 18, f"{value:g}", "middle")]
    parts.append(line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "axis"))
    parts.append(text(WIDTH - RIGHT, HEIGHT - 12, chart["x"] + " →", "end"))
    parts.append(text(LEFT, TOP - 4, "↓ " + chart["y"]))
    names = kinds(p["series"] for p in points)
    labels = Labels([place(p["x"], p["y"]) for p in points])
    for at, (name, kind) in enumerate(names.items()):
        own = sorted((p for p in points if p["series"] == name), key=lambda p: p["x"])
        path = " ".join("%.1f,%.1f" % place(p["x"], p["y"]) for p in own)
        parts.append(f'<polyline points="{path}" class="line {kind}"/>')
        for p in own:
            x, y = place(p["x"], p["y"])
            # Each series prefers a side of its own.
            spot_x, spot_y, anchor = labels.place(x, y, p["label"], at % 3)
            parts += [mark(kind, at, x, y), text(spot_x, spot_y, p["label"], anchor, kind)]
        x = WIDTH - RIGHT - sum(8 * len(rest) + 28 for rest in list(names)[at:]) + 20
        parts += [mark(kind, at, x, 22), text(x + 10, 26, name, kind=kind)]
    return document(chart, HEIGHT, parts)


def age(chart):
    """The age of the picture on screen over time: it grows until the next picture is shown. One panel for each series."""
    series = chart["series"]
    panel, gap = 84, 38
    height = TOP + len(series) * (panel + gap) + 24
    end = max(shown for one in series for shown, _ in one["shown"])
    ages = []
    for one in series:
        path, newest, course = [], None, sorted(one["shown"])
        for shown, captured in course:
            if newest is not None and captured < newest:
                continue
            if newest is not None:
                path.append((shown, shown - newest))
            newest = captured
            path.append((shown, shown - newest))
        ages.append(path)
    highest = max(value for path in ages for _, value in path) * 1.05
    parts = []
    for at, (one, path) in enumerate(zip(series, ages)):
        top = TOP + at * (panel + gap) + 18
        kind = "abc"[at % 3]

        def place(time, value, top=top):
            return LEFT + time / end * (WIDTH - LEFT - RIGHT), top + panel - value / highest * panel
        for value in steps(0, highest, 3):
            _, y = place(0, value)
            parts += [line(LEFT, y, WIDTH - RIGHT, y, "grid"), text(LEFT - 8, y + 4, f"{value:g}", "end")]
        points = " ".join("%.1f,%.1f" % place(*p) for p in path)
        parts.append(f'<polyline points="{points}" class="line {kind}"/>')
        parts.append(text(LEFT, top - 5, one["series"], kind=kind))
    for value in steps(0, end, 9):
        x = LEFT + value / end * (WIDTH - LEFT - RIGHT)
        parts.append(text(x, height - 22, f"{value:g}", "middle"))
    parts.append(text(WIDTH - RIGHT, height - 6, chart["x"] + " →", "end"))
    parts.append(text(LEFT, height - 6, "↑ " + chart["y"]))
    return document(chart, height, parts)


def draw(chart):
    return {"scatter": scatter, "age": age}[chart["kind"]](chart)
