/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An array that grows by one element at a time. */
#pragma once

#include "base/std.h"

/* Appends an element of zeros to *@elements, which has *@count elements of @size bytes each; begin with NULL and 0,
 * and end with free(). Room grows to powers of two. Returns the new element; its pointer and those to older elements
 * are valid until the next append. Returns NULL, and changes nothing, if there is no memory. */
void *array_append(void **elements, size_t *count, size_t size);

/* The same with the type of @elements, which is a pointer variable. */
#define ARRAY_APPEND(elements, count) \
	((__typeof__(elements))array_append((void **)&(elements), &(count), sizeof(*(elements))))
