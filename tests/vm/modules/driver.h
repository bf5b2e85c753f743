/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/* Makes a bus with @wanted GPUs; 0: none. gpus_remove() takes it away, with the GPUs, which no driver may have. */
int gpus_add(unsigned int wanted);
void gpus_remove(void);
