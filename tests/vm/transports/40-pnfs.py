# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.checks import check_no_drops
from judge.reading import Metrics, read_json
from judge.truths import compare_with_mountstats

METADATA = "127.0.0.1:20490"


@judgement
def a_data_server_is_a_server_of_its_own(folder):
    ours = compare_with_mountstats(folder, "before", "after")
    check_no_drops(Metrics(folder / "after.prom"))
    calls = {server: {op: int(ours.get("rpc_op_calls_total", server=server, op=op))
                      for op in ("READ", "WRITE", "GETATTR")}
             for server in (METADATA, "10.0.9.1")}
    need(calls[METADATA]["READ"] == calls[METADATA]["WRITE"] == 0, "data by the metadata server:", calls)
    need(calls["10.0.9.1"]["READ"] > 0 < calls["10.0.9.1"]["WRITE"], "no data by the data server:", calls)
    need(Metrics(folder / "after.prom").get("rpc_op_calls_total", server=METADATA, op="LAYOUTGET"),
         "the metadata server gave no layout")
    return f"{calls['10.0.9.1']['READ']} READ, {calls['10.0.9.1']['WRITE']} WRITE"


@judgement
def a_file_on_a_data_server_has_its_name(folder):
    files = {(f["server"], f["op"], f["path"]): f for f in read_json(folder / "files.json")["files"]}
    for op in ("READ", "WRITE"):
        known = files.get(("10.0.9.1", op, "/known"))
        need(known and known["calls"] == 16 and 0 <= known["bytes"] - (1 << 20) < 20000, op, files)
    return sorted(files)
