# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement
from judge.truths import saturates


@judgement
def four_rpc_slots_saturate_and_128_do_not(folder):
    return saturates(folder, "slot", 4, 128, 28)
