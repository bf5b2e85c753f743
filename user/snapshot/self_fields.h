/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program itself: the entries of struct self. See fields.h. */
/* clang-format off */

ENTRY(hook_state)
	FIELD(hook_state, LABEL, char[48], name)
	FIELD(hook_state, GAUGE, bool, attached)
ENTRY_END

ENTRY(drop_count)
	FIELD(drop_count, LABEL, char[24], reason)
	FIELD(drop_count, COUNTER, uint64_t, count)
ENTRY_END

ENTRY(health_state)
	FIELD(health_state, LABEL, char[24], check) /* the rule's name */
	FIELD(health_state, GAUGE, int, level) /* 0: ok, 1: warning, 2: failed */
ENTRY_END

ENTRY(finding_state)
	FIELD(finding_state, LABEL, char[24], check) /* the rule's name */
	FIELD(finding_state, LABEL, char[LABEL_SIZE], device) /* a GPU, a switch, a server; "": none */
	FIELD(finding_state, LABEL, char[32], code) /* "79", "sxid:20034", the kind of a driver error, or the rule's name */
ENTRY_END

/* Number and duration of the runs of a BPF program, since the kernel began to count them. */
ENTRY(program_run)
	FIELD(program_run, LABEL, char[32], name)
	FIELD(program_run, COUNTER, uint64_t, runs)
	FIELD(program_run, COUNTER, uint64_t, ns)
ENTRY_END
