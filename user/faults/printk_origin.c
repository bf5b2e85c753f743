// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "faults/printk_origin.h"

#include <sys/stat.h>

#include "base/file_text.h"
#include "base/span.h"
#include "kernel/kallsyms.h"

/* A stack is looked up long before this. */
#define KEEP_NS (60 * 1000000000ull)

/* The modules are read again if a message comes this long after the last reading. */
#define AGE_NS 50000000ull

/* Those behind nvidia cannot be loaded without it. */
static const char *const driver_modules[] = {
	"nvswitch", "nvidia", "nvidia_modeset", "nvidia_uvm", "nvidia_drm", "nvidia_peermem",
};

/* From the tracepoint up to what a driver calls. From 5.15 on printk has the name _printk. */
static const struct {
	const char *name;
	enum printk_function_kind kind;
} named[] = {
	{ "printk_sprint", PRINTK_INNER },
	{ "vprintk_store", PRINTK_INNER },
	{ "vprintk_emit", PRINTK_OUTER },
	{ "vprintk_default", PRINTK_OUTER },
	{ "vprintk_deferred", PRINTK_OUTER },
	{ "vprintk", PRINTK_OUTER },
	{ "_printk", PRINTK_OUTER },
	{ "_printk_deferred", PRINTK_OUTER },
	{ "dev_vprintk_emit", PRINTK_OUTER },
	{ "dev_printk_emit", PRINTK_OUTER },
	{ "devkmsg_emit", PRINTK_WRITTEN },
	/* While a function's return is traced, its return address is one of these; not all
	 * kernels show the true one. */
	{ "return_to_handler", PRINTK_LOST },
	{ "arch_rethook_trampoline", PRINTK_LOST },
	{ "__kretprobe_trampoline", PRINTK_LOST },
	{ "kretprobe_trampoline", PRINTK_LOST },
};

/* ---- printk's functions ---- */

/* Returns 1 behind the kernel's text: half of the symbols come after it. */
static int add_symbol(void *context, const struct kernel_symbol *s)
{
	struct printk_origins *o = context;
	struct printk_function *f;

	if (s->module.at)
		return 1;
	/* The symbols are sorted by address: the next one ends a function. */
	for (f = o->functions; f < o->functions + o->function_count; f++)
		if (f->end == f->begin)
			f->end = s->address;
	if (span_is(s->name, "_stext"))
		o->text_begin = s->address;
	else if (span_is(s->name, "_etext"))
		o->text_end = s->address;
	for (size_t i = 0; i < COUNT(named); i++) {
		struct span name = s->name;

		/* The compiler appends ".cold", ".isra.0" and so on to names of parts. */
		if (!span_take(&name, named[i].name) || (span_left(name) && *name.at != '.'))
			continue;
		f = ARRAY_APPEND(o->functions, o->function_count);
		if (!f)
			return -ENOMEM;
		*f = (struct printk_function){ s->address, s->address, named[i].kind };
	}
	return o->text_end != 0;
}

int printk_origins_read_functions(struct printk_origins *o, const char *root)
{
	int err;

	o->function_count = 0;
	o->text_end = 0;
	err = kallsyms_each(root, add_symbol, o);
	if (err >= 0)
		err = !o->function_count ? -ENOENT : !o->functions[0].begin ? -EPERM : 0;
	if (err)
		o->function_count = 0;
	return err;
}

/* ---- modules ---- */

/* "nvidia 56823808 2 nvidia_uvm,nvidia_modeset, Live 0xffffffffc0a1b000 (OE)". From 6.4 on the address is that of its text,
 * and 0 for a module that has none. Returns 1 if there is an address, 0 if not, or -errno. */
static int add_module(struct printk_origins *o, struct span line, uint64_t now_ns)
{
	struct span name = span_take_until(&line, " ");
	struct module_range new = { .from_ns = o->read_ns, .until_ns = UINT64_MAX };
	struct module_range *m;
	uint64_t size;

	if (!span_take(&line, " ") || !span_take_number(&line, 10, UINT32_MAX, &size) ||
	    !span_take_through(&line, " 0x") ||
	    !span_take_number(&line, 16, UINT64_MAX, &new.begin))
		return -EINVAL;
	if (!new.begin)
		return 0;
	new.end = new.begin + size;
	new.driver = ARRAY_FIND(d, driver_modules, COUNT(driver_modules), span_is(name, *d));
	m = ARRAY_FIND(x, o->modules, o->module_count,
		       x->until_ns > now_ns && x->begin == new.begin && x->end == new.end &&
			       x->driver == new.driver);
	if (!m) {
		m = ARRAY_APPEND(o->modules, o->module_count);
		if (!m)
			return -ENOMEM;
		*m = new;
	}
	m->found = true;
	return 1;
}

/* The inode of a module's folder in sysfs, which exists before the module runs, differs each time that it is loaded. */
uint64_t printk_driver_modules(const char *root)
{
	uint64_t sum = 0;
	struct stat st;

	ARRAY_EACH(name, driver_modules, COUNT(driver_modules)) {
		if (!stat(PATHF("%s/sys/module/%s", root, *name), &st))
			sum += st.st_ino;
		else if (!strcmp(*name, "nvidia"))
			break;
	}
	return sum;
}

static int read_modules(struct printk_origins *o, const char *root, uint64_t now_ns)
{
	FILE *file = fopen(PATHF("%s/proc/modules", root), "re");
	size_t kept = 0, room = 0, lines = 0, shown = 0;
	FREED char *line = NULL;
	int found = 0;

	if (!file)
		return -errno;
	for (size_t i = 0; i < o->module_count; i++)
		o->modules[i].found = false;
	for (; found >= 0 && getline(&line, &room, file) > 0; lines++) {
		found = add_module(o, span_of(line), now_ns);
		shown += found > 0;
	}
	if (found >= 0 && ferror(file))
		found = -EIO;
	fclose(file);
	if (found < 0)
		return found;
	/* Users can cause modules without text to be loaded. If addresses are hidden, all are. */
	if (lines && !shown)
		return -EPERM;
	ARRAY_EACH(m, o->modules, o->module_count) {
		if (!m->found && m->until_ns == UINT64_MAX)
			m->until_ns = now_ns;
		if (m->found || m->until_ns + KEEP_NS > now_ns)
			o->modules[kept++] = *m;
	}
	o->module_count = kept;
	o->read_ns = now_ns;
	return 0;
}

static bool has_driver(const struct printk_origins *o, uint64_t time_ns)
{
	return ARRAY_FIND(m, o->modules, o->module_count,
			  m->driver && time_ns >= m->from_ns && time_ns <= m->until_ns);
}

int printk_origins_read(struct printk_origins *o, const char *root, uint64_t now_ns)
{
	o->driver = printk_driver_modules(root);
	o->error = read_modules(o, root, now_ns);
	if (!o->error && !o->function_count && has_driver(o, now_ns))
		o->error = printk_origins_read_functions(o, root);
	return o->error;
}

/* ---- looking up ---- */

/* A return address is behind the call, so perhaps behind the function; one that is
 * hidden is the beginning of its stand-in. */
static const struct printk_function *find_function(const struct printk_origins *o, uint64_t address)
{
	return ARRAY_FIND(f, o->functions, o->function_count,
			  address <= f->end && address + (f->kind == PRINTK_LOST) > f->begin);
}

static bool is_in_module(const struct module_range *m, uint64_t address, uint64_t time_ns)
{
	return address > m->begin && address <= m->end && time_ns >= m->from_ns &&
	       time_ns <= m->until_ns;
}

/* Whether it is in the kernel's text or in a module. */
static bool is_known_text(const struct printk_origins *o, uint64_t address, uint64_t time_ns)
{
	return o->text_begin >= o->text_end ||
	       (address >= o->text_begin && address <= o->text_end) ||
	       ARRAY_FIND(m, o->modules, o->module_count, is_in_module(m, address, time_ns));
}

/* A module's other parts may lie elsewhere, and other modules' text within its
 * size: an address belongs to the module that begins last before it. */
static bool in_driver(const struct printk_origins *o, uint64_t address, uint64_t time_ns)
{
	const struct module_range *best = NULL;

	ARRAY_EACH(m, o->modules, o->module_count) {
		if (!is_in_module(m, address, time_ns))
			continue;
		if (!best || m->begin > best->begin || (m->begin == best->begin && m->driver))
			best = m;
	}
	return best && best->driver;
}

/* The number of addresses up to the first of printk's functions, behind those that a tracepoint calls; 0: there is none, or it does
 * not call the tracepoint. */
static size_t skip_inner(const struct printk_origins *o, const uint64_t *stack, size_t depth)
{
	const struct printk_function *f = NULL;
	size_t i = 0;

	while (i < depth && !f)
		f = find_function(o, stack[i++]);
	return f && f->kind == PRINTK_INNER ? i : 0;
}

bool printk_origins_inner(const struct printk_origins *o, const uint64_t *stack, size_t depth)
{
	return skip_inner(o, stack, depth);
}

static enum printk_origin find_caller(const struct printk_origins *o, const uint64_t *stack,
				      size_t depth, uint64_t time_ns)
{
	const struct printk_function *f;

	for (size_t i = skip_inner(o, stack, depth); i && i < depth; i++) {
		f = find_function(o, stack[i]);
		if (f && f->kind == PRINTK_WRITTEN)
			return PRINTK_ORIGIN_PROCESS;
		if (f && f->kind == PRINTK_LOST)
			return PRINTK_ORIGIN_UNKNOWN;
		if (!f && is_known_text(o, stack[i], time_ns))
			return in_driver(o, stack[i], time_ns) ? PRINTK_ORIGIN_DRIVER :
								 PRINTK_ORIGIN_OTHER;
	}
	return PRINTK_ORIGIN_UNKNOWN;
}

enum printk_origin printk_origin(const struct printk_origins *o, const uint64_t *stack,
				 size_t depth, uint64_t time_ns)
{
	enum printk_origin found;

	if (!depth || !o->read_ns || o->error)
		return PRINTK_ORIGIN_UNKNOWN;
	found = find_caller(o, stack, depth, time_ns);
	return found == PRINTK_ORIGIN_UNKNOWN && !has_driver(o, time_ns) ? PRINTK_ORIGIN_OTHER :
									   found;
}

size_t printk_origins_driver(const struct printk_origins *o, struct printk_range *ranges,
			     size_t max)
{
	const struct module_range *end = o->modules + o->module_count;
	size_t count = 0;

	for (const struct module_range *m = o->modules; m < end && count < max; m++) {
		struct printk_range *r = &ranges[count];

		if (!m->driver || m->until_ns != UINT64_MAX)
			continue;
		*r = (struct printk_range){ m->begin, m->end };
		for (const struct module_range *x = o->modules; x < end; x++)
			if (x->until_ns == UINT64_MAX && x->begin > r->begin && x->begin < r->end)
				r->end = x->begin;
		count++;
	}
	return count;
}

bool printk_origins_stale(const struct printk_origins *o, const char *root, const uint64_t *stack,
			  size_t depth, uint64_t time_ns, uint64_t now_ns)
{
	return time_ns > o->read_ns &&
	       (now_ns > o->read_ns + AGE_NS ||
		printk_origin(o, stack, depth, time_ns) == PRINTK_ORIGIN_DRIVER ||
		printk_driver_modules(root) != o->driver);
}

int printk_origins_shown(const char *root)
{
	struct printk_origins o = {};
	int err = printk_origins_read(&o, root, 1) ?: printk_origins_read_functions(&o, root);

	printk_origins_free(&o);
	return err;
}

void printk_origins_free(struct printk_origins *o)
{
	free(o->functions);
	free(o->modules);
	*o = (struct printk_origins){};
}
