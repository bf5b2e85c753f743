#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes tables (Markdown) and a figure (SVG) of what tests/paradox/guest.sh left, and judges the predictions.

    report.py RESULTS TABLE.md FIGURE.svg

Exit status 1: a prediction is wrong.
"""
import json
import math
import pathlib
import re
import sys

SLOTS = 128
LINK = 200e9 / 8  # bytes per second
MIB = 1 << 20


class Cell:
    """HOLD-SLOTS-NCONNECT-WANTED.fio.json, and what a session said of it, if there was one."""

    def __init__(self, path):
        self.version = path.parent.name
        self.set, self.slots, self.connections, self.wanted = map(int, path.name.split(".")[0].split("-"))
        self.rate = json.loads(path.read_text())["jobs"][0]["write"]["iops"]
        trace = path.with_name(path.name.replace(".fio.", ".trace."))
        self.verdict = None
        if trace.exists():
            server = max(json.loads(trace.read_text())["servers"], key=lambda s: s["calls"])
            self.verdict = server["verdict"]
            [write] = [op for op in server["ops"] if op["op"] == "WRITE"]
            self.hold = (write["seconds"] - write["phases"]["slot"] - write["phases"]["session"]) / write["calls"]


def hold_of(cells, cell):
    """For how long a WRITE holds its slot with 16 at once, in seconds: no wait, and a server that is hardly loaded."""
    [low] = [c for c in cells if c.verdict and (c.version, c.set, c.wanted) == (cell.version, cell.set, 16)]
    return low.hold


def predicted(cells, cell):
    """Calls per second, by Little's law."""
    return min(cell.wanted, cell.slots * cell.connections) / hold_of(cells, cell)


def bracket(cells, cell):
    """The session with 128 slots and as many requests, and the gain that it predicts for this cell's slots by the
    rules of docs/VERDICT.md. Its verdict gives one value alone: that up to which it holds the times to be known."""
    key = (cell.version, cell.set, cell.wanted)
    [base] = [c for c in cells if c.verdict and (c.version, c.set, c.wanted) == key]
    verdict = base.verdict
    if cell.connections > 1 and verdict["bound_by"] == "session":
        return base, 1, 1  # it is shared: nconnect cannot help
    if verdict["bound_by"] not in ("slot", "session"):
        return base, 1, max(1, verdict["gain_at_most"])
    wanted = re.search(r"while ([0-9.]+) calls", verdict["sentence"])
    slots = cell.slots * cell.connections
    slots = min(slots, float(wanted[1]) if wanted else slots)
    most = slots / SLOTS
    if verdict["confidence"] == "low":
        return base, 1, most
    low, high = verdict["numbers"]["low"], verdict["numbers"]["high"]
    growth = max(0, (high["rtt_seconds"] - low["rtt_seconds"]) / (high["in_flight"] - low["in_flight"]))
    held = high["rtt_seconds"] + growth * (SLOTS - high["in_flight"])
    least = slots / SLOTS * held / (held + growth * (slots - SLOTS)) / 1.3
    return base, min(least, most), most


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, ["---"] * len(head), *rows])


def group_by(cells, *names):
    groups = {}
    for c in cells:
        groups.setdefault(tuple(getattr(c, name) for name in names), []).append(c)
    return groups


def throughput(cells):
    cells = [c for c in cells if c.verdict]
    wanted = sorted({c.wanted for c in cells})
    rows = []
    for (version, hold), row in group_by(cells, "version", "set").items():
        by_wanted = {c.wanted: f"{c.rate:.0f}/{predicted(cells, c):.0f} {c.verdict['bound_by']}" for c in row}
        rows.append([version, hold, *(by_wanted.get(n, "-") for n in wanted)])
    return table(["NFS", "hold, ms", *(f"{n} wanted" for n in wanted)], rows)


def gains(cells):
    """The table of gains, and the predictions that are wrong."""
    rows, wrong = [], []
    changed_cells = [c for c in cells if not c.verdict]
    for (version, hold, wanted), changed in group_by(changed_cells, "version", "set", "wanted").items():
        results = []
        for c in changed:
            base, least, most = bracket(cells, c)
            gain = c.rate / base.rate
            change = f"nconnect={c.connections}" if c.connections > 1 else f"{c.slots} slots"
            results.append(f"{change}: {gain:.2f} of {least:.2f} to {most:.2f}")
            if not least / 1.05 <= gain <= most * 1.05:
                wrong.append(f"{version}, {hold} ms, {wanted} requests, {results[-1]}")
                results[-1] += " **wrong**"
        v = base.verdict
        proposed = f"{v['value']}: {v['gain_expected']:.2f} to {v['gain_at_most']:.2f}" if v["value"] else "-"
        rows.append([version, hold, wanted, proposed, "; ".join(results)])
    return table(["NFS", "hold, ms", "wanted", "verdict's value, gain", "gain measured, of predicted"], rows), wrong


# ---- figure ----

WIDTH, HEIGHT, LEFT, TOP, PLOT = 440, 330, 64, 46, 320
COLOURS = {"v3": "#1f6fb4", "v4.2": "#b4541f", "rdma": "#3a7d34"}


def panel(cells, hold, at):
    """One hold time: calls per second by requests wanted, both axes logarithmic."""
    mine = [c for c in cells if c.set == hold]
    low = math.floor(math.log2(min(c.rate for c in mine)))
    high = math.ceil(math.log2(max(max(c.rate, predicted(cells, c)) for c in mine)))
    height = HEIGHT - TOP - 50

    def x(wanted):
        return at + LEFT + (math.log2(wanted) - 4) / 5 * (PLOT - 20) + 10

    def y(rate):
        return TOP + height - (math.log2(rate) - low) / (high - low) * height

    out = [f'<text x="{at + LEFT}" y="30" class="title">A call holds its slot for {hold} ms</text>']
    for power in range(low, high + 1):
        out.append(f'<path d="M{at + LEFT} {y(2 ** power):.1f}h{PLOT}" class="grid"/>'
                   f'<text x="{at + LEFT - 6}" y="{y(2 ** power) + 4:.1f}" class="end">{2 ** power}</text>')
    for wanted in sorted({c.wanted for c in mine}):
        out.append(f'<text x="{x(wanted):.1f}" y="{HEIGHT - 32}" class="middle">{wanted}</text>')
    out.append(f'<text x="{at + LEFT + PLOT / 2}" y="{HEIGHT - 12}" class="middle">requests at once</text>')
    for version, colour in COLOURS.items():
        base = sorted((c for c in mine if c.version == version and c.verdict), key=lambda c: c.wanted)
        if not base:
            continue
        line = " ".join(f"{x(c.wanted):.1f},{y(predicted(cells, c)):.1f}" for c in base)
        out.append(f'<polyline points="{line}" stroke="{colour}" class="line"/>')
        for c in (c for c in mine if c.version == version):
            px, py = x(c.wanted), y(c.rate)
            shape = f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4.5"' if c.verdict else \
                f'<path d="M{px:.1f} {py - 6:.1f}l6 10h-12z"' if c.connections == 1 else \
                f'<path d="M{px - 4.5:.1f} {py - 4.5:.1f}h9v9h-9z"'
            out.append(f'{shape} stroke="{colour}" fill="{colour if c.verdict else "none"}" class="mark"/>')
    return out


def figure(cells):
    holds = sorted({c.set for c in cells})
    width = WIDTH * len(holds)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 40}" role="img" '
           'aria-label="Calls per second by requests at once, predicted and measured">',
           "<!-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause -->",
           "<style>text{font:12px sans-serif;fill:#222}.title{font-size:14px;font-weight:bold}.end{text-anchor:end}"
           ".middle{text-anchor:middle}.grid{stroke:#ddd}.line{fill:none;stroke-width:1.5;stroke-dasharray:5 3}"
           ".mark{stroke-width:1.5}</style>",
           f'<rect width="{width}" height="{HEIGHT + 40}" fill="#fff"/>',
           '<text x="14" y="14" class="small">calls per second</text>']
    for i, hold in enumerate(holds):
        out += panel(cells, hold, i * WIDTH)
    names = {"v3": "NFSv3 blue", "v4.2": "NFSv4.2 brown", "rdma": "NFSv3 over RDMA green"}
    names = ", ".join(name for version, name in names.items() if any(c.version == version for c in cells))
    out.append(f'<text x="14" y="{HEIGHT + 14}">{names}. Dashed: predicted for {SLOTS} slots. Filled: measured with '
               f'{SLOTS} slots.</text>')
    out.append(f'<text x="14" y="{HEIGHT + 31}">Triangle: measured with as many slots as requests. '
               'Square: with 128 slots on each of 2 or 4 connections.</text></svg>')
    return "\n".join(out) + "\n"


def main(results, table, svg):
    cells = [Cell(path) for path in pathlib.Path(results).glob("*/*-*-*-*.fio.json")]
    cells.sort(key=lambda c: (list(COLOURS).index(c.version), c.set, c.wanted, c.connections, c.slots))
    gain_table, wrong = gains(cells)
    text = throughput(cells) + "\n\n" + gain_table
    pathlib.Path(svg).write_text(figure(cells))
    pathlib.Path(table).write_text(text + "\n")
    print(text)
    for line in wrong:
        print("not within the prediction:", line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
