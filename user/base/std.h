/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The headers of the C library that most files need, and arrays. Our headers include this one, directly or through another. */
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

/* Declares a pointer to memory that is freed at the end of the block. Give it a value there. */
#define FREED __attribute__((cleanup(free_at_end)))
static inline void free_at_end(void *pointer)
{
	free(*(void **)pointer);
}

/* RAISE() makes a variable at least @value, LOWER() at most. */
#define RAISE(to, value) ((to) = (to) < (value) ? (value) : (to))
#define LOWER(to, value) ((to) = (to) > (value) ? (value) : (to))

/* Which of two comes first, as for qsort(): the lower one. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Defines @name(), which compares two elements by one member, for qsort(). */
#define COMPARE_BY(name, type, member)                       \
	static int name(const void *left, const void *right) \
	{                                                    \
		const type *a = left, *b = right;            \
                                                             \
		return ORDER(a->member, b->member);          \
	}

/* Loops over @count @elements with the pointer @element. @elements and @count are evaluated once, before the loop. */
/* NOLINTBEGIN(bugprone-macro-parentheses): @element is a name */
#define ARRAY_EACH(element, elements, count)                                                     \
	for (__typeof__((elements) + 0) element = (elements), element##_end = element + (count); \
	     element < element##_end; element++)

/* Returns a pointer to the first of @count @elements for which @wanted, which uses the pointer @element, is true; or NULL. */
#define ARRAY_FIND(element, elements, count, wanted)                                       \
	({                                                                                 \
		__typeof__((elements) + 0) element = (elements), end_ = element + (count); \
		while (element < end_ && !(wanted))                                        \
			element++;                                                         \
		element < end_ ? element : NULL;                                           \
	})
/* NOLINTEND(bugprone-macro-parentheses) */

/* How often an array found no memory: array.c. memory_error() returns -ENOMEM if that has happened since the count was @before,
 * otherwise 0. memory_count_failure() adds a failure that is not an array's. */
uint64_t memory_failed(void);
void memory_count_failure(void);
int memory_error(uint64_t before);

/* Appends an element of zeros to *@elements, which has *@count elements of @size bytes. Begin with NULL and 0, end with free().
 * The capacity grows to powers of two. Returns the new element; pointers to elements are valid until the next append. Without
 * memory the array stays as it is, memory_failed() grows, and the result is @spare, which nobody reads. */
void *array_append(void **elements, size_t *count, size_t size, void *spare);

/* The same for a pointer variable @elements; returns its type. */
#define ARRAY_APPEND(elements, count)                                                              \
	({                                                                                         \
		static __typeof__(*(elements)) spare_;                                             \
		(__typeof__(elements))array_append((void **)&(elements), &(count), sizeof(spare_), \
						   &spare_);                                       \
	})

/* A copy of such an array. Without memory it is NULL, *@count becomes 0, and memory_failed() grows. */
void *array_copy(const void *elements, size_t *count, size_t size);
