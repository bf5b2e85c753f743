# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, read_json


def slots(devices):
    return sorted(int(device.split(":")[2].split(".")[0]) for device in devices)


@judgement
def gpus_without_a_driver_are_named(folder):
    seen = {when: slots(f["device"] for f in read_json(folder / f"{when}.json")["findings"]
                        if f["rule"] == "gpu_unused") for when in ("refused", "given", "taken", "back")}
    need(seen == {"refused": [2], "given": [2], "taken": [1, 2], "back": [2]}, seen)
    found = Metrics(folder / "x.prom").values("node_finding_info", "device")
    need(slots(found) == [2], "the agent names", found)


@judgement
def the_drivers_refusal_is_an_error_of_the_gpu(folder):
    need("failed with error -1" in (folder / "dmesg.txt").read_text(), "the kernel printed nothing")
    counts = {dict(labels)["gpu"].split(":")[2]: value for labels, value in
              Metrics(folder / "x.prom").each("gpu_driver_errors_total", kind="probe_failed").items()}
    need(counts == {"02.0": 1}, counts)
