# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import number, read_json

STEADY = 20 * 4096  # bytes per second, see the scenario


def compare(folder, name, kind, episode):
    job = read_json(folder / f"{name}.fio.json")["jobs"][0]["write" if kind == "save" else "read"]
    begin, end = (number(folder / f"{name}.{when}") for when in ("begin", "end"))
    need(episode["kind"] == kind, name, "is a", episode["kind"])
    # The intervals also have the steady writes to this server.
    others = STEADY * (episode["seconds"] + 1) if name.startswith("save-") else 0
    need(0.99 * job["io_bytes"] < episode["bytes"] < 1.01 * job["io_bytes"] + others,
         name, "has", episode["bytes"], "fio has", job["io_bytes"])
    # fio takes some time to start and to end.
    start = episode["start"]
    need(begin - 1 <= start <= end - job["runtime"] / 1000 + 1, name, "began at", start, "and not at", begin)
    need(abs(episode["seconds"] - job["runtime"] / 1000) <= 1, name, "took", episode, "fio", job["runtime"], "ms")
    return f"{name} {episode['seconds']:.1f} s ({job['runtime'] / 1000:.1f} s)"


@judgement
def each_burst_is_an_episode_and_steady_traffic_is_none(folder):
    session = read_json(folder / "session.json")
    one = [e for e in session["episodes"] if e["server"].startswith("10.0.11.")]
    two = [e for e in session["episodes"] if e["server"].startswith("10.0.12.")]
    need(len(one) == 8, len(one), "episodes:", one)
    need(len(two) == 1, len(two), "episodes of the other server:", two)
    names = [(f"save-{i}", "save") for i in range(1, 6)] + [(f"load-{i}", "load") for i in range(1, 4)]
    notes = [compare(folder, name, kind, episode) for (name, kind), episode in zip(names, one)]
    return ", ".join(notes + [compare(folder, "other", "save", two[0])])
