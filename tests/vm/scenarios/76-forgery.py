# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import authority, counts, knows_callers
from judge.reading import Metrics, between


def recoveries(metrics):
    return metrics.get("gpu_recovered_timestamp_seconds", gpu="all", evidence="driver_loaded")


@judgement
def what_users_have_the_kernel_print_is_no_fault(folder):
    ours = between(folder, "begin", "no-driver")
    need(not counts(ours), "faults:", counts(ours))
    need(not ours.get("kernel_events_total", kind="link_down"), "a link went down")
    need(not ours.get("gpu_recovered_timestamp_seconds"), "recovered")
    for family in ("gpu_driver_errors_total", "gpu_info"):
        need(not ours.each(family, gpu="0000:a6:00.0"), family, ours.each(family))
    need(not ours.each("node_finding_info", device="0000:a6:00.0"), "a finding")
    need(ours.get("kernel_events_total", kind="forged_xid") == 1, "not counted as forged")
    need((folder / "no-driver.status").read_text() == "0\n", (folder / "no-driver.check").read_text())
    tried = {labels["gpu"]: int(value) for labels, value in
             ((dict(k), v) for k, v in ours.each("gpu_xid_unverified_total").items()) if value}
    for way, device in (("option", "a0"), ("option's second line", "a1"), ("SXid", "a3"),
                        ("file's name", "a4"), ("cgroup's name", "a5"), ("program's name", "a9")):
        need(f"0000:{device}:00.0" in tried, "the text of the", way, "did not arrive:", tried)
    return f"{sum(tried.values())} texts that are not verified"


@judgement
def the_drivers_line_in_a_flood_of_forged_ones_counts(folder):
    ours = between(folder, "no-driver", "driver")
    need(counts(ours) == {("0000:c1:00.0", 79): 1}, counts(ours))
    need((folder / "driver.status").read_text() == "2\n", (folder / "driver.check").read_text())
    flood = ours.get("gpu_xid_unverified_total", gpu="0000:b8:00.0")
    need(flood > 0, "there was no flood")
    lost, dropped = (ours.get("kernel_log_lost_records_total"),
                     ours.get("events_dropped_total", reason="printk"))
    return f"{flood} forged ones, {lost} records lost, {dropped} messages dropped"


@judgement
def only_the_loaded_driver_clears_a_fault(folder):
    still, loaded = Metrics(folder / "still.prom"), Metrics(folder / "loaded.prom")
    before = recoveries(Metrics(folder / "driver.prom"))
    need(recoveries(still) == before, "a forged line cleared it")
    need(not still.each("gpu_recovered_timestamp_seconds", gpu="0000:c1:00.0"), "a forged Xid 154 cleared it")
    need((folder / "still.status").read_text() == "2\n", (folder / "still.check").read_text())
    need(recoveries(loaded) > before, "a loaded driver did not")
    need((folder / "loaded.status").read_text() == "0\n", (folder / "loaded.check").read_text())


@judgement
def every_line_of_the_driver_counts(folder):
    ours = between(folder, "loaded", "lines")
    wanted = {("0000:d0:00.0", 79): 1, ("0000:d4:00.0", 20034): 1}
    if knows_callers(folder):
        wanted.update({("0000:d1:00.0", 79): 1, ("0000:d2:00.0", 79): 1})
    else:  # by their text alone these may be anybody's
        need(ours.get("gpu_xid_unverified_total") == 2, "not counted as unverified")
    need(counts(ours) == wanted, counts(ours))
    need(ours.get("gpu_driver_errors_total", gpu="0000:d3:00.0") == 1, "driver error")


@judgement
def hidden_addresses_hide_no_caller(folder):
    ours, known = between(folder, "hidden-begin", "hidden"), knows_callers(folder)
    need(authority(Metrics(folder / "hidden.prom")) == ("hook" if known else "driver"), "another authority")
    need(counts(ours) == {(f"0000:{bus}:00.0", 79): 1 for bus in (("f0", "f1") if known else ("f1",))}, counts(ours))
    need(ours.get("gpu_xid_unverified_total") == 2 - known, "not counted as unverified")


@judgement
def a_module_of_another_name_is_not_the_driver(folder):
    ours = between(folder, "lines", "other")
    if not knows_callers(folder):
        return "its text looks like the driver's"
    need(not counts(ours), counts(ours))
    need(ours.get("gpu_xid_unverified_total", gpu="0000:e0:00.0") == 1, "not counted as unverified")
    need(recoveries(Metrics(folder / "lines.prom")) == recoveries(Metrics(folder / "other.prom")),
         "it counts as the driver")
    return None
