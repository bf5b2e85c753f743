/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The name of an owner of calls. */
#pragma once

#include "base/label.h"

/* Who is nobody's: kernel threads, and calls whose process is not known. */
#define OWNER_KERNEL "kernel"

/* Writes to @label, of LABEL_SIZE bytes, whose control group it is: "slurm:4711", "pod:NAMESPACE/NAME" (the UID where
 * the node does not have the name), "unit:NAME.service", "user:1000"; of another group the first two names of its path,
 * "group:docker/4f..."; of the root "kernel". @names: of its path, from its own upwards, "" above the highest one. To
 * choose a name, one must be able to make groups outside of user.slice, jobs and pods. */
void owner_name(char *label, const char *const *names, size_t count);
