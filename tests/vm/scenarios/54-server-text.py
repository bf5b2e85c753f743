# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, read_json


@judgement
def a_server_does_not_write_into_the_figures_of_another(folder):
    shown = (folder / "mountstats").read_text()
    need(shown.count("\ndevice 127.0.0.7:/export mounted on /mnt/plain ") == 3, "the text is not there:", shown)
    metrics = Metrics(folder / "x.prom")
    for server, reads in (("127.0.0.1:20490", 50), ("127.0.0.7", 7)):
        need(metrics.get("rpc_op_calls_total", server=server, op="READ") == reads, server, metrics.samples)


@judgement
def a_server_does_not_hide_that_another_hangs(folder):
    findings = read_json(folder / "check.json")["findings"]
    need([(f["rule"], f["device"]) for f in findings] == [("mount_hung", "/mnt/plain")], findings)
