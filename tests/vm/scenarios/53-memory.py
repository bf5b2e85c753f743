# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics

# KiB. The aims are 16, 3.5 and 5 MB: 15625, 3418, 4883. 11540, 2943 and 4847 were measured.
START_KB, ONE_KB, MANY_KB = 15600, 3400, 4980
PEAK = 19500000  # 17.4 MB were measured


def kilobytes(folder, name, what):
    return [int(line.split()[1]) for line in (folder / f"{name}.kb").read_text().splitlines() if line.startswith(what)]


@judgement
def the_processes_are_small(folder):
    peak = max(kilobytes(folder, "start", "VmHWM"))
    one, many = (sum(kilobytes(folder, name, "Pss")) for name in ("one", "many"))
    metrics = Metrics(folder / "many.prom")
    need(len(metrics.values("nfs_owner_calls_total", "owner")) >= 32, "owners are missing")
    need(len(metrics.values("rpc_op_calls_total", "server")) >= 9, "servers are missing")
    need(peak <= START_KB, "at the start", peak, "kB")
    need(one <= ONE_KB, "with one server", one, "kB")
    need(many <= MANY_KB, "with nine servers", many, "kB")
    return f"{one} kB, with nine servers {many}, at the start at most {peak}"


@judgement
def the_metrics_say_what_the_kernel_has(folder):
    """Maps and programs but for some objects that nobody can count, and the rest."""
    peak, kernel = map(int, (folder / "many.group").read_text().split())
    metrics = Metrics(folder / "many.prom")
    said = metrics.get("memory_bytes") - metrics.get("memory_bytes", kind="resident")
    objects = said - metrics.get("memory_bytes", kind="other")
    need(objects <= kernel <= objects * 6 / 5, kernel, "bytes, not", objects)
    need(kernel * 0.95 <= said <= kernel * 1.05, kernel, "bytes, not", said)
    need(peak <= PEAK, peak, "bytes for a moment")
    return f"{kernel} bytes, and said are {said}; with the processes at most {peak}"
