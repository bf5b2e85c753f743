/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The page: a session for a browser, in one file that needs no network. It is the template
 * of user/sinks/page/ with the session's JSON in it.
 */
#ifndef XIDSCOPE_PAGE_H
#define XIDSCOPE_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* Puts @size bytes of JSON into the template. A name in it cannot end the element it is in:
 * each '<' is escaped. */
void page_write(FILE *out, const char *json, size_t size);

#endif
