/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control group of a process. */
#pragma once

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

static __always_inline const struct kernfs_node *kernfs_parent(const struct kernfs_node *node)
{
	if (bpf_core_field_exists(((struct kernfs_node___rcu *)0)->__parent))
		return BPF_CORE_READ((const struct kernfs_node___rcu *)node, __parent);
	return BPF_CORE_READ(node, parent);
}

/* The deepest control group of a process in all hierarchies. A v1 group wins over a unified one of equal depth: beside v1
 * docker makes no unified group. */
static __always_inline const struct cgroup *cgroup_of(const struct task_struct *process)
{
	const struct css_set *set = BPF_CORE_READ(process, cgroups);
	const struct cgroup *cgroup = BPF_CORE_READ(set, dfl_cgrp), *other;
	const int count = bpf_core_field_size(struct css_set, subsys) / sizeof(void *);
	struct cgroup_subsys_state *state;
	int level = BPF_CORE_READ(cgroup, level) - 1, other_level;

	for (int i = 0; i < 32 && i < count; i++) {
		state = NULL;
		bpf_core_read(&state, sizeof(state), &set->subsys[0] + i);
		other = BPF_CORE_READ(state, cgroup);
		other_level = BPF_CORE_READ(other, level);
		if (other_level > level) {
			cgroup = other;
			level = other_level;
		}
	}
	return cgroup;
}
