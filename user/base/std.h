/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The headers of the C library that most files need. Our headers include this one, directly or through another. */
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Makes a variable at least, at most that. */
#define RAISE(to, value) ((to) = (to) < (value) ? (value) : (to))
#define LOWER(to, value) ((to) = (to) > (value) ? (value) : (to))
