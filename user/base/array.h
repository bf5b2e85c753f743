/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An array that grows by one element at a time. */
#pragma once

#include "base/std.h"

/* Appends an element of zeros to *@elements, which has *@count elements of @size bytes. Begin with NULL and 0, end with free().
 * The capacity grows to powers of two. Returns the new element; pointers to elements are valid until the next append. If there
 * is no memory, returns NULL and changes nothing. */
void *array_append(void **elements, size_t *count, size_t size);

/* The same for a pointer variable @elements; returns its type. */
#define ARRAY_APPEND(elements, count) \
	((__typeof__(elements))array_append((void **)&(elements), &(count), sizeof(*(elements))))
