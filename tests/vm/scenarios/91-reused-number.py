# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import Metrics, between

SERVER = "127.0.0.2"


@judgement
def a_number_that_is_used_again_moves_no_call(folder):
    reads = {}
    for turn in ("idle", "calling"):
        first, second = (folder / f"{turn}.numbers").read_text().split()
        need(first == second, "the numbers differ:", first, second)
        after = between(folder, f"{turn}-before", f"{turn}-after")
        reads[turn] = {dict(labels)["owner"]: int(value)
                       for labels, value in after.each("nfs_owner_calls_total", server=SERVER, kind="read").items()}
        need(sum(reads[turn].values()) > 0, "no READ outlived its process")
        need(not reads[turn].get("slurm:200"), turn, reads)
    need(reads["idle"].get("slurm:100"), reads)
    return reads


@judgement
def nor_does_a_stall(folder):
    ages = {}
    for turn in ("idle", "calling"):
        stalled = Metrics(folder / f"{turn}-stalled.prom")
        ages[turn] = {dict(labels)["owner"]: float(value)
                      for labels, value in stalled.each("nfs_owner_oldest_call_seconds", server=SERVER).items()}
        need(ages[turn].get("slurm:200", 0) == 0, turn, ages)
    return ages
