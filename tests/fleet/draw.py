# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Draws a dashboard as a page from its JSON and the results of its queries, for a person to judge what it shows and
where: rows and panels at their places, figures in the colour of their threshold, tables as merged, renamed and sorted,
plain charts with their annotations. Grafana draws them in another way; what it decides alone is not here.
"""
import html
import json
import re

COLUMN, ROW, GAP = 50, 38, 6
COLOURS = {"green": "#2e7d32", "orange": "#b35900", "red": "#c62828"}
LINES = ["#1f60c4", "#c2410c", "#0d7f72", "#7a3fb0", "#947100", "#b0256b", "#5b6472", "#2e7d32", "#9f1d1d", "#0b5cad"]
SCALES = {"s": [(86400, " d"), (3600, " h"), (60, " min"), (1, " s"), (1e-3, " ms"), (1e-6, " µs")],
          "bytes": [(2**30, " GiB"), (2**20, " MiB"), (2**10, " KiB"), (1, " B")],
          "Bps": [(1e9, " GB/s"), (1e6, " MB/s"), (1e3, " kB/s"), (1, " B/s")],
          "percentunit": [(1e-2, " %")], "ops": [(1e3, "k ops/s"), (1, " ops/s")]}


def shown(value, unit, now, decimals=None):
    """A number as text."""
    if unit == "dateTimeFromNow":
        return shown(now - value / 1000, "s", now) + " ago"
    for scale, name in SCALES.get(unit, []):
        if abs(value) >= scale or scale == SCALES[unit][-1][0]:
            return f"{value / scale:.3g}{name}"
    return f"{value:.{decimals}f}" if decimals is not None else f"{value:.10g}" if value % 1 == 0 else f"{value:.3g}"


def named(labels, target):
    """A series, as its legend has it."""
    text = re.sub(r"{{(\w+)}}", lambda m: labels.get(m[1], ""), target.get("legendFormat", "")).strip()
    return text or ", ".join(f"{k}={v}" for k, v in labels.items()) or target["expr"]


class Page:
    """query(text) and query_range(text) give Prometheus' results; now is the end of the time that is drawn."""
    def __init__(self, page, query, query_range, now):
        self.page, self.query, self.query_range, self.now = page, query, query_range, now
        self.marks = [(float(t), a["iconColor"]) for a in page.get("annotations", {"list": []})["list"]
                      for series in query_range(a["target"]["expr"]) for t, _ in series["values"]]

    def mapped(self, value, mappings):
        """Its text and its colour."""
        for mapping in mappings:
            found = mapping["options"].get(str(value))
            if found:
                return found.get("text", str(value)), found.get("color")
        return None

    def stat(self, panel):
        defaults = panel.get("fieldConfig", {}).get("defaults", {})
        result = [s for t in panel["targets"] for s in self.query(t["expr"])]
        if not result:
            return "<p class=figure>No data</p>"
        value = float(result[-1]["value"][1])
        colour = None
        for step in defaults.get("thresholds", {}).get("steps", []):
            if step["value"] is None or value >= step["value"]:
                colour = step["color"]
        text, colour = self.mapped(f"{value:g}", defaults.get("mappings", [])) or (
            shown(value, defaults.get("unit"), self.now), colour)
        return (f"<p class=figure style='background:{COLOURS.get(colour, 'none')};"
                f"color:{'#fff' if colour else 'inherit'}'>{html.escape(text)}</p>")

    def rows(self, panel):
        """Of a table, as its transformations make them."""
        rows, several = [], len(panel["targets"]) > 1
        for target in panel["targets"]:
            for series in self.query(target["expr"]):
                name = f"Value #{target['refId']}" if several else "Value"
                row = dict(series["metric"], Time="", **{name: float(series["value"][1])})
                for other in rows:
                    common = [k for k in other if k in row and not k.startswith("Value")]
                    if name not in other and all(other[k] == row[k] for k in common):
                        other.update(row)
                        break
                else:
                    rows.append(row)
        for step in panel.get("transformations", []):
            options = step["options"]
            if step["id"] == "organize":
                order = options["indexByName"]
                rows = [{options["renameByName"].get(k, k): row[k] for k in sorted(row, key=lambda k: order.get(k, 99))
                         if not options["excludeByName"].get(k)} for row in rows]
            elif step["id"] == "sortBy":
                by = options["sort"][0]
                rows.sort(key=lambda r, by=by: (isinstance(r.get(by["field"], ""), str), r.get(by["field"], "")),
                          reverse=by.get("desc", False))
        return rows

    def table(self, panel):
        rows = self.rows(panel)
        columns = list(dict.fromkeys(k for row in rows for k in row))
        if "__name__" in columns:
            raise SystemExit(f"{panel['title']}: shows the names of metrics, which also keep rows apart")
        fields = {o["matcher"]["options"]: {p["id"]: p["value"] for p in o["properties"]}
                  for o in panel.get("fieldConfig", {}).get("overrides", [])}

        def cell(row, column):
            value, field = row.get(column, ""), fields.get(column, {})
            text = value if isinstance(value, str) else shown(value, field.get("unit"), self.now, field.get("decimals"))
            text, colour = self.mapped(value, field.get("mappings", [])) or (text, None)
            text = f"<u>{html.escape(text)}</u>" if "links" in field else html.escape(text)
            return f"<td style='color:{COLOURS.get(colour, 'inherit')}'>{text}"

        return "<table><tr>" + "".join(f"<th>{html.escape(c)}" for c in columns) + "".join(
            "<tr>" + "".join(cell(row, c) for c in columns) for row in rows) + "</table>"

    def series(self, panel):
        return [(named(s["metric"], t), [(float(at), float(v)) for at, v in s["values"]])
                for t in panel["targets"] for s in self.query_range(t["expr"])]

    def chart(self, panel, width, height):
        defaults = panel.get("fieldConfig", {}).get("defaults", {})
        lines, stacked = self.series(panel), "stacking" in defaults.get("custom", {})
        if stacked:
            below = {}
            for _, values in lines:
                values[:] = [(at, below.setdefault(at, 0) + v) for at, v in values]
                below.update(values)
        every = [(at, v) for _, values in lines for at, v in values if v == v]
        if not every:
            return "<p class=figure>No data</p>"
        begin, most = min(at for at, _ in every), max(v for _, v in every) or 1
        left, bottom, legend = 70, 18, 34

        def place(at, v):
            return (left + (at - begin) / (self.now - begin or 1) * (width - left),
                    (height - bottom - legend) * (1 - v / most) + 4)

        svg = [f"<svg width={width} height={height - legend}>"]
        for part in (0, 0.5, 1):
            y = place(begin, part * most)[1]
            svg.append(f"<line x1={left} x2={width} y1={y} y2={y} stroke='#d9dee6'/><text x={left - 6} y={y + 4} "
                       f"text-anchor=end>{html.escape(shown(part * most, defaults.get('unit'), self.now))}</text>")
        for at, colour in self.marks:
            if at >= begin:
                x = place(at, 0)[0]
                svg.append(f"<line x1={x} x2={x} y1=4 y2={height - bottom - legend} stroke='{colour}'/>")
        for i, (_, values) in enumerate(lines):
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(at, v) for at, v in values if v == v))
            svg.append(f"<polyline points='{points}' fill=none stroke='{LINES[i % len(LINES)]}' stroke-width=1.5 />")
        names = (f"<li style='color:{LINES[i % len(LINES)]}'>{html.escape(line[0])}" for i, line in enumerate(lines))
        return f"{''.join(svg)}</svg><ul>{''.join(names)}</ul>"

    def states(self, panel, width):
        lines = self.series(panel)
        begin = min((at for _, values in lines for at, _ in values), default=0)
        svg = [f"<svg width={width} height={20 * len(lines)}>"]
        for i, (name, values) in enumerate(lines):
            svg.append(f"<text x=0 y={20 * i + 14}>{html.escape(name)}</text>")
            scale = (width - 160) / (self.now - begin or 1)
            svg += [f"<rect x={160 + scale * (at - begin)} y={20 * i + 2} width=8 height=16 fill='#b35900'/>"
                    for at, v in values if v]
        return "".join(svg) + "</svg>"

    def panel(self, panel):
        at = panel["gridPos"]
        width, height = at["w"] * COLUMN - 3 * GAP, at["h"] * ROW - 40
        body = {"row": lambda: "", "stat": lambda: self.stat(panel), "table": lambda: self.table(panel),
                "state-timeline": lambda: self.states(panel, width),
                "timeseries": lambda: self.chart(panel, width, height)}[panel["type"]]()
        return (f"<section class={panel['type']} style='left:{at['x'] * COLUMN}px;top:{at['y'] * ROW + 40}px;"
                f"width:{at['w'] * COLUMN - GAP}px;height:{at['h'] * ROW - GAP}px'>"
                f"<h2>{html.escape(panel['title'])}</h2>{body}</section>")

    def html(self):
        bottom = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in self.page["panels"])
        links = " · ".join(html.escape(link["title"]) for link in self.page["links"])
        return f"""<!DOCTYPE html><meta charset=utf-8><title>{html.escape(self.page['title'])}</title><style>
body {{ margin: 0; width: {24 * COLUMN}px; height: {bottom * ROW + 50}px; background: #f5f6f8; font: 12px sans-serif; }}
header {{ padding: 10px; font-size: 16px; }} h2 {{ margin: 4px 6px; font-size: 13px; }} .row h2 {{ font-size: 15px; }}
section {{ position: absolute; overflow: hidden; background: #fff; border: 1px solid #d9dee6; }}
section.row {{ background: none; border: 0; }} svg {{ display: block; margin: 0 6px; }}
.figure {{ margin: 6px; padding: 18px 0; text-align: center; font-size: 28px; }}
table {{ width: 100%; border-collapse: collapse; }} text {{ font-size: 11px; fill: #556070; }}
td, th {{ padding: 2px 6px; border-bottom: 1px solid #eceff3; text-align: left; white-space: nowrap; }}
ul {{ margin: 2px 6px; padding: 0; list-style: none; }} li {{ display: inline; margin-right: 12px; }}</style>
<header>{html.escape(self.page['title'])} <small>{links}</small></header>
{''.join(map(self.panel, self.page['panels']))}"""


def draw(path, query, query_range, now, to):
    """Writes the dashboard of the file path as a page into the file to."""
    to.write_text(Page(json.loads(path.read_text()), query, query_range, now).html())
