# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import counts, knows_callers
from judge.reading import Metrics, between


def unverified(metrics):
    return sorted(dict(k)["gpu"][5:7] for k, v in metrics.each("gpu_xid_unverified_total").items() if v)


def recovered(folder, name):
    return Metrics(folder / f"{name}.prom").get("gpu_recovered_timestamp_seconds", gpu="all", evidence="driver_loaded")


@judgement
def what_users_have_the_kernel_print_is_no_fault(folder):
    tried = []
    for before, after, letter in (("begin", "no-driver", "a"), ("no-driver", "quoted", "b")):
        ours = between(folder, before, after)
        need(not counts(ours), "faults:", counts(ours))
        need((folder / f"{after}.status").read_text() == "0\n", (folder / f"{after}.check").read_text())
        tried += unverified(ours)
        for digit, way in (("1", "a packet"), ("2", "a file without a name"), ("4", "FUSE"), ("6", "a group")):
            need(letter + digit in tried, "the text of", way, "did not arrive:", tried)
    need(not (folder / "kmsg").exists(), "a user may write to /dev/kmsg")
    return f"unverified: {' '.join(tried)}"


@judgement
def a_module_without_text_hides_no_caller(folder):
    need((folder / "cipher").read_text(), "the cipher was not loaded")
    log = (folder / "agent.log").read_text()
    need("cannot find out who calls printk" not in log, "its address was taken for hidden")


@judgement
def what_the_driver_quotes_is_no_fault(folder):
    ours = between(folder, "no-driver", "quoted")
    need({"c0", "c9"} <= set(unverified(ours)), "the quoted texts did not arrive:", unverified(ours))
    need(not ours.get("gpu_driver_errors_total"), "a driver error")
    own = counts(between(folder, "quoted", "driver"))
    need(own == {("0000:c1:00.0", 79): 1}, "the driver's own line:", own)


@judgement
def a_load_while_nothing_is_read_clears_faults(folder):
    need(recovered(folder, "driver"), "the driver's load was not noticed")
    need(recovered(folder, "reloaded") > recovered(folder, "driver"), "the second load was not noticed")


@judgement
def a_driver_that_cannot_be_loaded_clears_nothing(folder):
    need(not (folder / "unfit").exists(), "it could be loaded")
    need(recovered(folder, "unfit") == recovered(folder, "reloaded"), "what failed has cleared faults")
    need(recovered(folder, "pushed") > recovered(folder, "unfit"), "the load after it was not noticed")


@judgement
def a_flood_pushes_no_line_of_the_driver_out(folder):
    ours = between(folder, "reloaded", "pushed")
    lost = ours.get("kernel_log_lost_records_total")
    others = ours.get("events_dropped_total", reason="printk_others")
    need(lost > 0, "the log has lost nothing")
    if knows_callers(folder):
        need(others > 0, "the hook has dropped nothing")
        need(counts(ours) == {("0000:c5:00.0", 79): 1}, counts(ours))
        need(not ours.get("events_dropped_total", reason="printk"), "dropped as if they were the driver's")
    else:  # nothing but the log has it, of this driver
        need(set(counts(ours)) <= {("0000:c5:00.0", 79)}, counts(ours))
    return f"{lost} records lost, {others} messages dropped"


@judgement
def what_a_process_writes_takes_the_place_of_no_fault(folder):
    ours = between(folder, "pushed", "guessed")
    need(ours.get("kernel_events_total", kind="forged_xid") == 200, "not counted as forged")
    need(counts(ours) == {("0000:c6:00.0", 79): 1}, counts(ours))


@judgement
def a_line_that_a_process_has_left_unfinished_hides_no_fault(folder):
    ours = between(folder, "guessed", "unfinished")
    need(ours.get("kernel_events_total", kind="forged_xid") == 1, "it did not go on in the line of the process")
    if knows_callers(folder):
        need(counts(ours) == {("0000:c7:00.0", 79): 1}, counts(ours))
    else:  # nothing but the log has it, of this driver
        need(not counts(ours), counts(ours))


@judgement
def the_driver_is_known_while_printk_is_traced(folder):
    ours = between(folder, "unfinished", "traced")
    need(counts(ours) == {("0000:d1:00.0", 79): 1, ("0000:d2:00.0", 79): 1}, counts(ours))
    need(unverified(ours) == ["d3", "d4"], unverified(ours))


@judgement
def a_prefix_of_the_packet_filter_is_no_fault_where_callers_are_known(folder):
    ours = between(folder, "traced", "continued")
    if knows_callers(folder):
        need(not counts(ours) and unverified(ours) == ["a8"], counts(ours), unverified(ours))
    else:  # SECURITY.md says so
        need(set(counts(ours)) == {("0000:a8:00.0", 79)}, counts(ours))
