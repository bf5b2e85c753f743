#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Decides by one rule for all tools what each has shown of each fault, and prints the tables of docs/COMPARISON.md.

    table.py OUT page | readme | costs | why
    table.py OUT differs PAGE       the cells that differ from the page, but for those marked ~; fails if any do

OUT: what tests/versus/guest.sh has left. why: what each cell rests on.

The rule. Each figure that a tool prints is a series of values, one for each 5 s: a gauge its value, a counter what was
added, sums of seconds and calls also their quotient, a distribution its mean. A kind of line, with numbers left out, is
a series, too: how often it came. A figure stands out while it is above twice the most, or below half of the least, that
it was before the fault, in three steps of 5 s one after the other; a kind of line does if it was not there before. What
also stands out while nothing is wrong is not believed, and is a wrong alarm if it names a cause.

seen: something stands out. named: of what rises and has the words of some cause, most has risen that which has this
cause's; where lines or figures of yes and no do so, these alone count, but for those that say that it is over. "among
others": another cause's has risen half as much or more. end: at the end all figures that named it are as before, or a
line says that it is over. ~: with somewhat other limits the cell would be another.
"""
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
STEP = 5


class Limits:
    """Of the rule: how many times, of the most, for how many steps, and of a ROUNDED. A cell that others change is near
    a limit."""
    usual, others = (2, 1 / 2, 3, 1), ((1.5, 2 / 3, 2, 1.15), (3, 1 / 3, 4, 0.85))


FROM_NOTHING = 101  # by how much a figure rises then at most: least_of()
ROUNDED = (30, 60, 120, 240)  # seconds: what lies between is rounded up
# The words of each cause. The first that fits a series is its cause.
CAUSES = {
    "forged": r"forged|unverified",
    "xid": r"(?<!bad_)xid",
    "options": r"[rw]size|options|mount_info|profile|mount_differs",
    "readahead": r"read_?ahead",
    "session": r"session|forechannel",
    "slot": r"slot|backlog|bklog",
    "hung": r"not.responding|hung|hang|stall|oldest|stuck|blocked for|time.?out",
    "loss": r"retrans|resend|lost|loss",
    "send": r"send(?!_bytes)|sending|\bnetwork\b|\blink\b",
    "server": r"rtt|response|\bserver\b",
    "cpu": r"cpu|pressure",
}
OVER = re.compile(r'\bok\b|"end"|again|recovered|is over', re.I)
TOOLS = {
    "xidscope": "xidscope run", "node-exporter": "node_exporter", "nfsiostat": "nfsiostat", "pcp": "PCP nfsclient",
    "nfsslower-bpfcc": "nfsslower (bcc)", "nfsslower-libbpf": "nfsslower (libbpf)", "nfsdist-bpfcc": "nfsdist (bcc)",
    "nfsdist-libbpf": "nfsdist (libbpf)", "bpftrace": "bpftrace", "dmesg": "dmesg -w, grep",
}
# Labels that say where, not what.
PLACES = re.compile(r'\b(?:server|export|mountpoint|remote|local|device|protocol|transport|owner|gpu|version)='
                    r'"(?:[^"\\]|\\.)*",?')
KEYS = re.compile(r'"\w+":')  # of JSON
NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?")
SAMPLE = re.compile(r"^(node_\w+|xidscope_\w+)(?:\{(.*)\})? (\S+)$")


def steps(values):
    """The values of a counter as what was added."""
    return {at: value - before for (_, before), (at, value) in zip(values, values[1:])}


def quotients(counts):
    """Mean times: of each sum the quotient by the calls of the same labels."""
    pairs = ((r"_sum\b", "_count"), (r"_(queue|response|request)_time_seconds_total", "_requests_total"),
             (r"\.(queue|rtt|execute)\b", ".ops"))
    for name, values in list(counts.items()):
        for pattern, by in pairs:
            calls = counts.get(re.sub(pattern, by, name)) if re.search(pattern, name) else None
            if calls:
                yield name + " mean", {at: value / calls[at] for at, value in values.items() if calls.get(at)}


def asked(folder, parse):
    """The series of files, one of each time: gauges; and counters as what was added, and mean times."""
    gauges, counters = collections.defaultdict(list), collections.defaultdict(list)
    times = sorted(int(path.name) for path in folder.iterdir())
    for time in times:
        found = dict(parse((folder / str(time)).read_text(errors="replace")))
        for (name, counts), value in found.items():
            (counters if counts else gauges)[name].append((time, value))
    for name, values in counters.items():
        if values[0][0] > times[0]:  # a counter appears with its first event
            values.insert(0, (times[times.index(values[0][0]) - 1], 0.0))
    counts = {name: steps(values) for name, values in counters.items()}
    return {name: dict(values) for name, values in gauges.items()}, {**counts, **dict(quotients(counts))}


def exposition(text):
    """Samples of node_exporter's page and of the agent's file."""
    counts = set()
    for line in text.splitlines():
        if line.startswith("# TYPE ") and line.endswith((" counter", " histogram", " summary")):
            counts.add(line.split()[2])
        elif (match := SAMPLE.match(line)) and not re.search("_bucket$|_timestamp_|_time_seconds$", match[1]):
            family = re.sub("_(total|sum|count)$", "", match[1])
            yield (f"{match[1]} {match[2] or ''}", bool({family, match[1]} & counts)), float(match[3])


def pminfo(text):
    name = ""
    for line in text.splitlines():
        if match := re.match(r"(\S+)$", line):
            name = match[1]
        elif match := re.match(r'\s+(?:inst \[\S+ or "(.*)"\] )?value (\S+)$', line):
            gauge = ".pressure." in name and ".avg" in name or ".load" in name
            try:
                yield (f"{name} {match[1] or ''}", not gauge), float(match[2])
            except ValueError:
                pass


def columns(lines):
    """nfsiostat: a line of heads, a line of values, for each mount."""
    series, mount, heads = collections.defaultdict(dict), "", []
    for time, line in lines:
        if " mounted on " in line:
            mount = line.split()[2]
        elif re.search("[a-z]", line):
            heads = re.split(r"\s{2,}", line.strip())
        elif heads and line.strip():
            kind = heads[0] if heads[0].endswith(":") else ""
            for head, value in zip([h for h in heads if not h.endswith(":")], re.sub(r"\(.*?\)", "", line).split()):
                series[f"{mount} {kind} {head}"][time] = float(value)
            heads = []
    return series


def distributions(lines):
    """Histograms of bcc and bpftrace: of each its mean, and how many."""
    scale = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    series, name, total = collections.defaultdict(dict), "", [0, 0]
    for time, line in [*lines, (0, "@end")]:
        # "[4K, 8K)  12", "[0]  12" or "4096 -> 8191 : 12"
        bucket = re.match(r"\s*\[?(\d+)([KMG]?)(?:\]|, (\d+)([KMG]?)\)| -> (\d+)\s*:)\s*(\d+)", line)
        if bucket:
            low = int(bucket[1]) * scale[bucket[2]]
            high = int(bucket[3] or bucket[5] or bucket[1]) * scale[bucket[4] or ""]
            total = [total[0] + int(bucket[6]), total[1] + int(bucket[6]) * (low + high) / 2]
            series[name + " count"][time] = total[0]
            series[name + " mean"][time] = total[1] / max(total[0], 1)
        elif re.match(r"@|operation|\S+ = ", line.strip()):
            name, total = line.strip().rstrip(":"), [0, 0]
    return series


def kinds(lines):
    """How often each kind of line came."""
    series = collections.defaultdict(lambda: collections.Counter())
    for time, line in lines:
        series["line: " + re.sub(r"\s+", " ", NUMBER.sub("#", line.strip()))[:160]][time] += 1
    return series


def stamped(path):
    for line in path.read_text(errors="replace").splitlines():
        time, _, text = line.partition(" ")
        yield int(time), text


class Tool:
    def __init__(self, out, name):
        self.name, self.series, self.events, self.gauges = name, {}, {}, {}
        failed = out / f"{name}.failed"
        self.failed = (failed.read_text().strip() or "ended") if failed.exists() else ""
        if (out / name).is_dir():
            self.gauges, counts = asked(out / name, pminfo if name == "pcp" else exposition)
            self.series = self.gauges | counts
        if (out / f"{name}.lines").exists():
            lines = list(stamped(out / f"{name}.lines"))
            if name == "nfsiostat":
                self.series |= columns(lines)
            elif "dist" in name or name == "bpftrace":
                self.series |= distributions(lines)
            else:
                self.events = kinds(lines)
        self.most = {}
        for series, values in self.series.items():
            kind = same_kind(series)
            self.most[kind] = max(self.most.get(kind, 0), *map(abs, values.values()), 0)
        if not (self.series or self.events) and name != "dmesg":
            self.failed = self.failed or "printed nothing"


def cause_of(name):
    plain = KEYS.sub("", PLACES.sub("", name)).lower().replace("xidscope", "")
    return next((cause for cause, words in CAUSES.items() if re.search(words, plain)), None)


def least_of(tool, name):
    """What counts as nothing: a hundredth of the most that figures of this kind have been."""
    return tool.most.get(same_kind(name), 0) / 100


def outside(values, small, marks):
    """When a figure stands out, and by how much at most if it rises. One that was not there before has been 0."""
    before = [v for at, v in values.items() if marks["calm"] <= at < marks["fault"]]
    if 0 < len(before) < 5:
        return [], 0
    before = before or [0]
    least, most = min(before), max(before)
    during = sorted((at, v) for at, v in values.items() if marks["fault"] <= at <= marks["end"] + STEP)
    out = [(at, v) for at, v in during if v > Limits.times * most + small or v < least / Limits.times - small]
    times = [at for (first, _), (at, _) in zip(out, out[Limits.steps - 1:]) if at - first <= Limits.steps * STEP]
    rise = max((v for _, v in out), default=0) if times else 0
    return times, (rise + small) / (most + small) if rise > most else 0


def lines_of(counts, marks):
    """The same of a kind of line: that it comes, or twice as often as before."""
    if not any(marks["calm"] <= at < marks["fault"] for at in counts):
        end = marks["end"] + (Limits.steps - 1) * STEP
        return [at for at in sorted(counts) if marks["fault"] <= at <= end], FROM_NOTHING
    begin = int(marks["calm"])
    often = collections.Counter({at: 0 for at in range(begin, int(marks["over"]), STEP)})
    for at, count in counts.items():
        often[begin + (at - begin) // STEP * STEP] += count
    return outside(often, 0, marks)


def as_before(values, small, marks):
    before = [v for at, v in values.items() if marks["calm"] <= at < marks["fault"]] or [0]
    last = [v for at, v in values.items() if marks["over"] - 2 * STEP <= at <= marks["over"]]
    return all(min(before) / Limits.times - small <= v <= Limits.times * max(before) + small for v in last)


def is_over(tool, name, marks):
    """Whether a figure is as before, or a kind of line that came again and again comes no more."""
    if name in tool.series:
        return as_before(tool.series[name], least_of(tool, name), marks)
    times = {int(at - marks["fault"]) // STEP for at in tool.events[name] if at > marks["fault"]}
    return len(times) > 2 and max(times) < (marks["over"] - marks["fault"]) // STEP - 2


def stands_out(tool, marks):
    """Of each series that does: since when, and by how much it has risen."""
    found = {}
    for name, values in tool.series.items():
        times, rise = outside(values, least_of(tool, name), marks)
        if times:
            found[name] = (times[0], rise)
    for name, counts in tool.events.items():
        times, rise = lines_of(counts, marks)
        if times:
            found[name] = (times[0], rise)
    return found


def early(tool, marks):
    """What was printed before a tool began: any figure or line on it, counted from the tool's own begin."""
    found, all_ = {}, [*tool.series.items(), *tool.events.items()]
    begin = min((min(values) for _, values in all_ if values), default=0)
    for name, values in all_:
        times = [at for at, value in values.items() if at <= marks["end"] and value]
        if times and cause_of(name) == "xid":
            found[name] = (times[0] - begin + marks["fault"], FROM_NOTHING)
    return found


def is_statement(tool, name):
    """A line, or a gauge that says yes or no: its words need no comparison with figures."""
    return name in tool.events or name in tool.gauges and set(tool.series[name].values()) <= {0, 1}


def seconds(time):
    return next((str(limit) for limit in ROUNDED if time <= limit * Limits.rounded), "later")


def same_kind(name):
    return NUMBER.sub("#", PLACES.sub("", name))


def cell(tool, fault, marks, noise):
    """Seen, named, end, and what it rests on."""
    found = early(tool, marks) if fault["name"] == "early" else {
        name: what for name, what in stands_out(tool, marks).items() if same_kind(name) not in noise}
    causes = {name: cause_of(name) for name in found}
    if fault["cause"] in ("xid", "forged"):  # a message: figures on NFS have nothing to do with it
        found = {name: what for name, what in found.items() if causes[name] in ("xid", "forged")}
    if not found:
        return "no", "no", "-", []
    seen = min(at for at, _ in found.values()) - marks["fault"]
    rising = {name: rise for name, (_, rise) in found.items() if causes[name] and rise > 1}
    rising = {name: rise for name, rise in rising.items() if name not in tool.events or not OVER.search(name)}
    rising = {name: rise for name, rise in rising.items() if is_statement(tool, name)} or rising
    most = max(rising.values(), default=0)
    top = [name for name, rise in rising.items() if rise >= most * Limits.among]
    mine = [name for name in top if causes[name] == fault["cause"]]
    named = "no"
    if fault["cause"] == "forged" and not mine:
        named = "taken for an Xid"
    if mine:
        named = seconds(min(found[name][0] for name in mine) - marks["fault"])
        if len(mine) < len(top):
            named = "among others"
    end = "-"
    if fault["ends"] and mine:
        rests = [name for name in mine if name in tool.series] or mine
        over = any(OVER.search(name) and any(marks["end"] < at <= marks["over"] for at in counts)
                   and not any(marks["calm"] <= at <= marks["end"] for at in counts)
                   for name, counts in tool.events.items())
        end = "yes" if over or all(is_over(tool, name, marks) for name in rests) else "no"
    return seconds(seen), named, end, sorted(mine or found, key=lambda name: -found[name][1])


def read_marks(out):
    marks = collections.defaultdict(dict)
    for line in (out / "marks.tsv").read_text().splitlines():
        fault, what, time = line.split("\t")
        marks[fault][what] = int(float(time))  # as the times of what is printed
    return marks


def faults():
    yield {"name": "early", "cause": "xid", "ends": False, "title": "an Xid before the tool began"}
    for line in (HERE / "faults.tsv").read_text().splitlines():
        if not line.startswith("#"):
            name, _, cause, ends, title = line.split("\t")
            yield {"name": name, "cause": cause, "ends": ends == "yes", "title": title}


def judge(tools, marks, limits):
    """Of each fault and tool (seen, named, end), what each rests on, and what is named while nothing is wrong."""
    Limits.times, Limits.among, Limits.steps, Limits.rounded = limits
    cells, rests, wrong = {}, {}, {}
    noise = {tool.name: stands_out(tool, marks["nothing"]) for tool in tools}
    for fault in faults():
        if fault["name"] in marks and fault["name"] != "nothing":
            for tool in tools:
                quiet = {same_kind(name) for name in noise[tool.name]}
                *verdict, rests[fault["title"], tool.name] = cell(tool, fault, marks[fault["name"]], quiet)
                cells.setdefault(fault["title"], {})[tool.name] = None if tool.failed else tuple(verdict)
    for tool in tools:
        named = sorted({cause_of(name) for name in noise[tool.name]} - {None})
        wrong[tool.name] = None if tool.failed else named
        rests["nothing is wrong", tool.name] = [name for name in noise[tool.name] if cause_of(name)]
    return cells, wrong, rests


def verdicts(out):
    """By the usual limits, and marked what others would change."""
    marks = read_marks(out)
    tools = [Tool(out, name) for name in TOOLS]
    others = [judge(tools, marks, limits)[0] for limits in Limits.others]
    cells, wrong, rests = judge(tools, marks, Limits.usual)
    near = {(title, tool) for title, row_ in cells.items() for tool, verdict in row_.items()
            if any(other[title][tool] != verdict for other in others)}
    return tools, cells, wrong, rests, near


def row(*words):
    print("| " + " | ".join(words) + " |")


def head(*words):
    row(*words)
    row(*["---"] * len(words))


def text(verdict):
    if not verdict:
        return "not run"
    return "no" if verdict[0] == "no" else "/".join(verdict)


def alarms(causes):
    return "not run" if causes is None else ", ".join(causes) or "nothing"


def rank(verdict):
    """Less is better: when it was named, seen, its end."""
    seen, named, end = verdict
    late = [*map(str, ROUNDED), "later", "among others", "no", "taken for an Xid"].index
    return late(named), late(seen), end == "no"


def rows(cells, wrong, near):
    for title, verdicts_ in cells.items():
        yield title, *(text(verdicts_[tool]) + " ~" * ((title, tool) in near) for tool in TOOLS)
    yield "nothing is wrong: named", *(alarms(wrong[tool]) for tool in TOOLS)


def page(tools, cells, wrong, _, near):
    head("fault", *TOOLS.values())
    for words in rows(cells, wrong, near):
        row(*words)
    print()
    for tool in tools:
        if tool.failed:
            print(f"- {TOOLS[tool.name]} did not run: {tool.failed}")
    print()
    for title, verdicts_ in cells.items():
        ours = verdicts_["xidscope"]
        better = [TOOLS[tool] for tool, verdict in verdicts_.items() if verdict and ours and rank(verdict) < rank(ours)]
        if better:
            print(f"- Better than xidscope at *{title}*: {', '.join(better)}.")


def readme(_, cells, wrong, *__):
    """Of each tool: how many faults it has shown, by whatever; and named."""
    head(f"of {len(cells)} faults", *TOOLS.values())
    for name, counts in (("seen", lambda seen, named, end: seen != "no"),
                         ("cause named", lambda seen, named, end: named[0].isdigit() or named == "later")):
        columns_ = [[verdicts_[tool] for verdicts_ in cells.values() if verdicts_[tool]] for tool in TOOLS]
        row(name, *(str(sum(counts(*verdict) for verdict in column)) if column else "not run" for column in columns_))
    row("named when nothing is wrong", *(alarms(wrong[tool]) for tool in TOOLS))


def why(_, cells, __, rests, ___):
    for (title, tool), names in rests.items():
        print(f"{title}, {tool}: {text(cells.get(title, {}).get(tool) or ['', ''])}")
        for name in names[:8]:
            print(f"    {cause_of(name)}: {name}")


def differs(document, _, cells, wrong, __, near):
    found = False
    lines = pathlib.Path(document).read_text().splitlines()
    there = {words[0]: words[1:] for words in (line[2:-2].split(" | ") for line in lines if line.startswith("| "))}
    for title, *words in rows(cells, wrong, near):
        for tool, here, before in zip(TOOLS, words, there.get(title, [""] * len(words))):
            if here != before and not here.endswith("~") and not before.endswith("~"):
                print(f"{title}, {tool}: {here}, where the page has {before}")
                found = True
    sys.exit(found)


def costs(out):
    head("tool", "resident, MB", "series", "ms for an answer")
    for line in (out / "cost.tsv").read_text().splitlines():
        name, resident, series, milliseconds = line.split("\t")
        row(TOOLS[name], f"{int(resident) / 1e6:.0f}", series, milliseconds)


def main():
    out = pathlib.Path(sys.argv[1])
    if sys.argv[2] == "costs":
        costs(out)
    elif sys.argv[2] == "differs":
        differs(sys.argv[3], *verdicts(out))
    else:
        {"page": page, "readme": readme, "why": why}[sys.argv[2]](*verdicts(out))


if __name__ == "__main__":
    main()
