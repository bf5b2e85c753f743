# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import re

from judge import judgement, need
from judge.checks import counts, knows_callers
from judge.reading import Metrics, between


def since_begin(folder, name):
    return between(folder, "begin", name)


def verdict(folder, name):
    return (folder / f"{name}.status").read_text().strip(), (folder / f"{name}.check").read_text()


@judgement
def the_flood_folds_its_devices_alone(folder):
    ours = since_begin(folder, "flood")
    lost = ours.get("kernel_log_lost_records_total")
    total = sum(counts(ours).values())
    need(total + lost >= 2250 and total <= 2250, total, "counted,", lost, "lost of 2250")
    need(ours.get("gpu_xid_errors_total", gpu="other", xid="13", action="restart_app") > 100,
         "Xid 13 of other devices")
    labels = [dict(key) for key in ours.each("nvswitch_sxid_errors_total")]
    need(all(label["severity"] == "warning" for label in labels), "an SXid's severity folded")
    status, text = verdict(folder, "flood")
    need(status in ("0", "1"), text)
    return f"{len(labels)} series of SXids, {lost} records lost"


@judgement
def a_real_fault_keeps_its_number_and_action(folder):
    for name in ("fault", "restarted"):
        ours = since_begin(folder, name)
        need(ours.get("gpu_xid_errors_total", gpu="other", xid="79", severity="fatal",
                      action="restart_bm") == 1, name, "Xid 79")
        need(ours.get("nvswitch_sxid_errors_total", device="other", severity="fatal") == 1,
             name, "the fatal SXid")
        status, text = verdict(folder, name)
        need(status == "2" and "Xid 79" in text and "GPU other" in text
             and "Drain the node and restart it" in text, name, text)
        need("NVSwitch other" in text, name, text)
    need(counts(since_begin(folder, "restarted")) == counts(since_begin(folder, "fault")),
         "a restart has changed the counts")


@judgement
def only_what_holds_for_all_clears_it(folder):
    status, text = verdict(folder, "recovered")
    need(status == "2" and "Xid 79" in text, "one device's recovery has cleared it:", text)
    status, text = verdict(folder, "acknowledged")
    need(status != "2", "an acknowledgement has not:", text)
    status, text = verdict(folder, "loaded")
    need(status == "0", "a new load of the driver has not:", text)


@judgement
def what_the_buffers_lose_is_counted(folder):
    full, storm = Metrics(folder / "full.prom"), between(folder, "loaded", "full")
    counted = storm.get("gpu_xid_errors_total", xid="31")
    missing = storm.get("kernel_log_lost_records_total")
    need(counted <= 3000 <= counted + missing, counted, "counted,", missing, "lost of 3000")
    for reason, variable, by_hook in (("printk", "printk_dropped", True),
                                      ("trace_events", "kernel_events_dropped", False)):
        lost = re.search(f'"{variable}": *(\\d+)', (folder / f"{reason}.json").read_text())
        lost = int(lost[1]) if lost else 0
        need(full.get("events_dropped_total", reason=reason) == lost, reason, "not", lost)
        need((lost > 1000) == (by_hook == knows_callers(folder)), reason, "has dropped", lost)
    return f"{counted} counted, {missing} records lost"
