// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A kernel log that was saved as text: by dmesg or journalctl, a syslog daemon, a container's runtime, logcli, or out of
 * /dev/kmsg. What stands before the kernel's text says when it was written and by whom:
 *
 *	2026-01-02T03:04:05.678901234Z stdout F 	a container's log
 *	2026-01-02T03:04:05Z {job="journal"} 		logcli
 *	<3>  <3>1  kern  :err   : 			facility and level
 *	n1:   n1: kern: warning:   pod container 		up to three words; take_time() has these, and all times
 *	Jan  2 03:04:05  [Fri Jan  2 03:04:05 2026]  [  +0.000012] 	a time
 *	n1 kern.err kernel:   kern.err: 			host, facility, name
 *	[   12.345678] [ T123] 				the kernel's own time and task
 *	3,1339,5140900,-;				/dev/kmsg, netconsole
 *
 * In JSON each line is an object, or a member of one (dmesg --json): an entry of the journal, or of another program's log with a
 * whole line as one of its members. Entries of journalctl -o verbose or -o export are not read.
 *
 * Lines of others do not count: a user may have chosen what they say. A text without any of this is taken for the kernel's,
 * because people cut it off; but not in what has the lines of programs, the log of a container or JSON. The times decide about
 * bursts and repeats; one that goes back begins another boot or year, unless most do. */

#include <time.h>

#include "base/json.h"
#include "kernel/kernel_log.h"

/* What is known of a line by what it begins with. */
struct prefix {
	bool others; /* another than the kernel has written it */
	bool timed;
	bool of_programs; /* the kernel's must be known by more */
	int host; /* the number of words before the name of the writer; 0: there is no name, or it is not known */
};

/* ---- times ---- */

static void set_time(struct saved_log *l, const struct saved_time *time)
{
	double later = l->time.known ? time->seconds - l->time.seconds : 0;

	l->now += later > 0 ? later : 0;
	l->falls += (later < 0 && later > -183 * 86400.0) - (later > 0);
	l->newest_first = l->falls > (time->seconds < 9e8); /* one may be another boot's */
	l->time = *time;
	l->timed = true;
}

static void write_time(struct saved_time *t, double seconds, const char *from, const char *to)
{
	struct span text = { from, to };

	*t = (struct saved_time){ .known = true, .seconds = seconds };
	span_take(&text, "[");
	span_take_run(&text, " ");
	text = span_take_until(&text, "]<");
	span_copy(span_cut(text, sizeof(t->text) - 1), t->text, sizeof(t->text));
}

static struct saved_time time_of_us(uint64_t us)
{
	struct saved_time time = { .known = true, .seconds = (double)us / 1e6 };

	snprintf(time.text, sizeof(time.text), "%.6f", time.seconds);
	return time;
}

/* "[  123.456789]", "[  123.4 <    0.01>]": the kernel's own. */
static bool is_kernel_time(const char *text)
{
	int end = 0;

	sscanf(text, "[%*[ 0-9].%*[0-9]%*1[] <]%n", &end);
	return end;
}

/* In another language: "[五 1月  2 03:04:05 2026]", "Okt 02 03:04:05"; before 1970 if the month is not known. */
static const char *read_local_time(const char *text, struct tm *tm)
{
	static const char months[] =
		" Mär 3 Mrz 3 Mai 5 Okt 10 Dez 12 janv. 1 févr. 2 mars 3 avril 4 mai 5 juin 6 "
		"juil. 7 août 8 sept. 9 déc. 12 ene 1 abr 4 ago 8 dic 12 gen 1 mag 5 giu 6 "
		"lug 7 set 9 ott 10 fev 2 out 10 dez 12 maj 5 okt 10 des 12 mrt 3 mei 5 "
		"sty 1 lut 2 kwi 4 cze 6 lip 7 sie 8 wrz 9 paź 10 lis 11 gru 12 ";
	char month[18] = " ";
	const char *known;
	int end = 0;

	text += *text == '[' ? strcspn(text, " ") : 0;
	sscanf(text, " %15[^ :] %2d%*[ ]%n", month + 1, &tm->tm_mday, &end);
	known = span_digit(month[1]) < 10 ? NULL : strstr(months, strcat(month, " "));
	tm->tm_mon = (atoi(known ? known + strlen(month) : month) % 100 ?: -1200) - 1;
	return end ? strptime(text + end, "%H:%M:%S", tm) : NULL;
}

/* Takes the time that the text begins with. The kernel's own times stay. *@host: as in struct prefix. False: it has none. */
static bool read_time(const char **text, double last, struct saved_time *time, int *host)
{
	static const char *const forms[] = {
		"%a %Y-%m-%d %H:%M:%S", /* journalctl -o short-full: the name of a zone follows */
		"%b %d %H:%M:%S", /* syslog, journalctl */
		"%Y %b %d %H:%M:%S", /* syslog-ng */
		"%Y-%m-%dT%H:%M:%S", /* journalctl -o short-iso; dmesg has a comma */
		"%Y-%m-%d %H:%M:%S",    "%a %b %d %H:%M:%S %Y", /* dmesg -T, logread of OpenWrt */
		"%b%d %H:%M", /* dmesg -e */
	};
	const char *begin = *text, *rest = NULL, *zone = NULL;
	bool bracket = *begin == '[', kernels = is_kernel_time(begin), comma = false;
	double seconds, digit = 1;
	struct tm tm;
	size_t form = 0;

	if (sscanf(begin, "[ +%lf]", &seconds) == 1) {
		seconds += last;
	} else if (kernels || (strspn(begin, "0123456789") == 10 && begin[10] == '.')) {
		seconds = strtod(begin + bracket, NULL); /* journalctl -o short-unix */
	} else {
		for (; form < COUNT(forms) && !rest; form++) {
			tm = (struct tm){ .tm_year = 100, .tm_mday = 1 };
			rest = strptime(begin + bracket, forms[form], &tm);
			rest = tm.tm_year < 70 ? NULL : rest; /* the number of a line */
		}
		rest = rest ?: read_local_time(begin, &tm);
		if (!rest)
			return false;
		seconds = (double)timegm(&tm);
		comma = *rest == ',';
		if (*rest == '.' || comma)
			while (span_digit(*++rest) < 10)
				seconds += (digit /= 10) * (int)span_digit(*rest);
		/* " +0100", "Z"; " Z" begins a host's name */
		zone = strncmp(rest, " Z", 2) ? strptime(rest, "%z", &tm) : NULL;
		seconds -= zone ? (double)tm.tm_gmtoff : 0;
	}
	rest = zone ?: rest ?: begin;
	if (*rest == '"') /* a column of its own; the line has another */
		return false;
	rest += strcspn(rest, bracket ? "]" : " \t\n");
	write_time(time, seconds, begin, rest);
	time->known = seconds >= 0;
	*host = !bracket && !comma ? 1 + (form == 1 && !zone) : 0;
	rest += bracket ? strspn(rest, "]:") : 0;
	*text = kernels ? begin : rest + (*rest == ' ' || *rest == '\t');
	return true;
}

/* ---- what stands before a text ----
 *
 * Each moves past what it finds. */

/* The first time of a line counts. Before it may be the file or the number of the line, as of grep, "kern.log.1:33:", and up to
 * three words, such as the node: "n1: " of pdsh, "n1: kern: warning: " of Talos, "pod container ", "dmesg-1  | ", "> ". */
static bool take_time(struct saved_log *l, struct prefix *p, const char **text)
{
	const char *begin = *text, *at = begin + strspn(begin, " \t\""); /* a quotation, CSV */
	struct saved_time time;

	for (int words = 0; !read_time(&at, l->time.seconds, &time, &p->host);) {
		const char *end = at + strcspn(at, ": \t\n"), *next = end + (*end == ':');

		p->others |= !strncmp(at, "user: ", 6) || !strncmp(at, "daemon: ", 8);
		words += strchr(" \t\n", *next) ? 4 : 1; /* in quarters, of which "33:" is one */
		next += strspn(next, " \t");
		/* "sshd[99]:" is none of these */
		if (p->timed || p->of_programs || next == end || words > 15 ||
		    memchr(at + 1, '[', (size_t)(end - at)))
			return false;
		at = next;
	}
	*text = at;
	if (time.known && !p->timed)
		set_time(l, &time);
	else if (!p->timed)
		p->others = ++l->odd; /* of an unknown month */
	p->timed = true;
	return *text != begin;
}

/* "<3>"; the syslog protocol's has its version, "<3>1 ". */
static bool take_priority(struct prefix *p, const char **text)
{
	unsigned int priority;
	int end = 0;

	if (sscanf(*text, "<%u>%n", &priority, &end) != 1 || !end)
		return false;
	*text += end + (strncmp(*text + end, "1 ", 2) ? 0 : 2);
	p->others |= priority >= 8;
	return true;
}

/* "kern  :err   : " of dmesg -x */
static bool take_level(struct prefix *p, const char **text)
{
	int end = 0;

	sscanf(*text, "%*6[a-z ]:%*1[a-z]%*5[a-z ]: %n", &end);
	if (end < 15)
		return false;
	p->others |= strncmp(*text, "kern ", 5) != 0;
	*text += end;
	return true;
}

/* The next @end that is not within quotes; NUL: there is none. */
static const char *find_end(const char *at, char end)
{
	for (bool quoted = false; *at && (quoted || *at != end); at += 1 + (*at == '\\' && at[1]))
		quoted ^= *at == '"';
	return at;
}

/* "stdout F " of a container; "{job="journal", unit="a}b"} " of logcli, whose labels no program's text may have. */
static bool take_stream(struct prefix *p, const char **text)
{
	const char *at = *text;
	int end = 0;

	if (!p->timed)
		return false;
	sscanf(at, "std%*1[oe]%*1[ur]%*1[tr] %*1[FP]%n", &end);
	at += end;
	if (*at == '{' && !p->of_programs)
		at = find_end(at, '}');
	if (at == *text || !*at)
		return false;
	p->of_programs = !memmem(*text, (size_t)(at - *text), "transport=\"kernel\"", 18);
	p->host *= p->of_programs;
	*text = at + 1;
	*text += strspn(*text, " ");
	return true;
}

/* "sshd[99]:" */
static bool is_process(const char *word, size_t len)
{
	const char *open = memrchr(word, '[', len);

	return open && open > word && word[len - 2] == ']' &&
	       strspn(open + 1, "0123456789") == (size_t)(word + len - open) - 3;
}

/* Moves past the kernel's time, "[   12.345678] " or "[   12.345678 <    0.000011>] ", and its task, "[ T123] ". */
static const char *skip_kernel_time(const char *text)
{
	int time = 0, task = 0;

	sscanf(text, "[%*[ 0-9.<>]]%n", &time);
	text += time;
	sscanf(text, " [ %*[TC]%*u]%n", &task);
	text += task;
	return text + (time + task && *text == ' ');
}

/* Moves past what RFC 5424 has between the name and the text: "kernel - - [origin ip=\"10.0.0.1\"] ". NULL: it has not. */
static const char *skip_structured(const char *word)
{
	int data = 0;
	const char *at;

	sscanf(word, "kernel%*1[ ]-%*1[ ]%*s %n", &data);
	at = word + data;
	if (!data || (*at != '-' && *at != '['))
		return NULL;
	for (at += *at == '-'; *at == '['; at += *at == ']')
		at = find_end(at, ']');
	at += *at == ' ';
	return at + (strncmp(at, "\xef\xbb\xbf", 3) ? 0 : 3);
}

/* Where the kernel's text begins in a line, behind "HOST kernel: "; NULL: another has written it. Not timed: the first words may be
 * a time. */
static const char *kernel_text(const char *line, const struct prefix *p)
{
	const char *word = line, *unnamed = p->host ? NULL : line;
	int last = p->host ? p->host : p->timed ? 1 : 6;

	if (*word == '[' && strchr(word, ']'))
		word = strchr(word, ']') + 1; /* the kernel's time; a name may follow, too */
	for (int i = 0; i <= last; i++) {
		const char *text;
		size_t len;

		word += strspn(word, " ");
		len = strcspn(word, " \n");
		text = skip_structured(word);
		if (!strncmp(word, "kernel:", 7))
			return word + 7 + (word[7] == ' ');
		if (text)
			return text;
		if (i && i <= p->host && is_kernel_time(word)) /* netconsole's */
			return word;
		if (!strncmp(word, "kern.", 5) && word[len] == ' ' &&
		    is_kernel_time(word + len + 1))
			return word + len + 1; /* socklog's */
		last += i == p->host && !strncmp(word, "kern.", 5); /* syslogd of busybox */
		if (len > 3 && word[len - 1] == ':') {
			unnamed = is_process(word, len) || (p->host && i) ? NULL : line;
			break;
		}
		word += len;
	}
	return p->of_programs && skip_kernel_time(line) == line ? NULL : unnamed;
}

/* Ends @text before a line of the driver that it quotes: the driver's own begin with their mark. */
static bool cut_quoted(char *text)
{
	const char *at[] = { strstr(text, "NVRM: "), strstr(text, "nvidia-nvswitch") };

	if (at[0] == text || at[1] == text)
		return false;
	for (size_t i = 0; i < COUNT(at); i++)
		if (at[i])
			text[at[i] - text] = 0;
	return at[0] || at[1];
}

/* The kernel's text in one line. NULL: it has none. */
static const char *read_line(struct saved_log *l, char *line, struct prefix p)
{
	const char *text = line;
	size_t blanks = strspn(line, " \t");

	if (!p.timed && l->of_others && blanks >= l->of_others) {
		l->passed_over++; /* the message before it has more lines */
		return NULL;
	}
	while (take_priority(&p, &text) || take_level(&p, &text) || take_time(l, &p, &text) ||
	       take_stream(&p, &text))
		;
	/* How an entry of the journal begins: "__CURSOR=s=...", or "Fri 2026-01-02 03:04:05.678901 UTC [s=...". */
	l->fields |= (!l->time.known && !strncmp(line, "__CURSOR=", 9)) ||
		     (p.host == 2 && !strncmp(text + strcspn(text, " "), " [s=", 4));
	text = p.others ? NULL : kernel_text(text, &p);
	l->of_others = text ? 0 : blanks + 1;
	l->passed_over += !text;
	if (!text)
		return NULL;
	text = skip_kernel_time(text);
	/* A text without a prefix may be part of a line. */
	if (text != line)
		l->passed_over += cut_quoted(line + (text - line));
	else
		l->odd += strncmp(text + (l->time.known ? blanks : 0), "NVRM: ", 6) != 0 &&
			  strstr(text, "NVRM: ");
	return text;
}

/* ---- entries ---- */

static void read_member(void *log, struct span name, struct span value)
{
	static const char *const texts[] = { "MESSAGE", "message", "msg", "log", "line" };
	static const char *const times[] = { "time", "timestamp", "@timestamp", "date", "DATE" };
	struct saved_log *l = log;
	char text[SAVED_LINE_BYTES];
	const char *rest = text;
	uint64_t us;
	double seconds;
	bool is_text = ARRAY_FIND(t, texts, COUNT(texts), span_is(name, *t));
	int ignored;

	if (!json_inside(value, &value) && *value.at == '[') /* no UTF-8 */
		l->odd += is_text;
	json_decode(value, text, sizeof(text));
	if (is_text)
		memcpy(l->entry.text, text, sizeof(text));
	else if (ARRAY_FIND(t, times, COUNT(times), span_is(name, *t)) &&
		 !read_time(&rest, 0, &l->entry.time, &ignored) &&
		 json_read_number(value, &seconds))
		write_time(&l->entry.time, seconds, value.at, value.end);
	else if (span_is(name, "pri") && span_number(span_of(text), UINT64_MAX, &us))
		l->entry.writer = us < 8 ? BY_KERNEL : BY_OTHER;
	else if (span_is(name, "_TRANSPORT"))
		l->entry.writer = strcmp(text, "kernel") ? BY_OTHER : BY_KERNEL;
	else if (span_is(name, "__REALTIME_TIMESTAMP") &&
		 span_number(span_of(text), UINT64_MAX, &us))
		l->entry.time = time_of_us(us);
}

static void begin_entry(struct saved_log *l)
{
	l->entry.time.known = false;
	l->entry.writer = BY_UNKNOWN;
	*l->entry.text = 0;
}

/* Takes a member of an object that has a line for each, up to "}" or "},{". */
static bool take_member(struct saved_log *l, char *at)
{
	const char *name_end = *at == '"' ? strchr(at + 1, '"') : NULL;
	char *end = at + strcspn(at, "\n");

	if (l->object == NO_OBJECT || !name_end || at == l->line ||
	    name_end[1 + strspn(name_end + 1, " ")] != ':')
		return false;
	if (l->object == OBJECT_BEGINS)
		begin_entry(l);
	l->object = IN_OBJECT;
	end -= end[-1] == ',';
	at[-1] = '{';
	*end = '}';
	json_read((struct span){ at - 1, end + 1 }, read_member, l);
	return true;
}

/* Whether the line is a record of /dev/kmsg, before which netconsole may have the kernel's release, or an object of JSON. */
static bool take_entry(struct saved_log *l)
{
	const char *line = l->line, *release = line + strcspn(line, ", ");
	struct saved_entry *e = &l->entry;
	struct kmsg_record record;

	begin_entry(l);
	release += *release == ',';
	if (!kmsg_record_parse(line, strlen(line), &record, e->text, sizeof(e->text) - 1) &&
	    !kmsg_record_parse(release, strlen(release), &record, e->text, sizeof(e->text) - 1))
		return *line == '{' && json_read(span_of(line), read_member, l);
	e->text[record.text_len] = 0;
	e->time = time_of_us(record.time_us);
	e->writer = record.facility ? BY_OTHER : BY_KERNEL;
	return true;
}

/* The kernel's text in what was read last. */
static const char *read_part(struct saved_log *l)
{
	struct saved_entry *e = &l->entry;
	char *at = l->line + strspn(l->line, " \t");
	bool ends = l->object == IN_OBJECT && *at == '}';

	if (take_member(l, at))
		return NULL;
	l->object = strstr(at, "{\n") ? OBJECT_BEGINS : NO_OBJECT;
	if (!ends && !take_entry(l))
		return read_line(l, l->line, (struct prefix){});
	l->odd += ends && !*e->text; /* an array of bytes */
	e->text[strcspn(e->text, "\n")] = 0;
	if (e->time.known)
		set_time(l, &e->time);
	if (e->writer == BY_UNKNOWN)
		return read_line(l, e->text,
				 (struct prefix){ .of_programs = true, .timed = e->time.known });
	l->passed_over += e->writer == BY_OTHER || cut_quoted(e->text);
	return e->writer == BY_KERNEL ? e->text : NULL;
}

/* Without colours; and with the tabs that rsyslog escapes. */
static void clean_line(char *line)
{
	char *to = line;

	for (const char *at = line; (*to = *at); at++) {
		if (*at == '#' && !strncmp(at, "#011", 4)) {
			*to++ = '\t';
			at += 3;
		} else if (at[0] != '\033' || at[1] != '[') {
			to++;
		} else {
			at += strcspn(at, "mK\n");
			if (!*at || *at == '\n')
				at--;
		}
	}
}

const char *saved_log_next(struct saved_log *l)
{
	const char *text;

	while (getline(&l->line, &l->size, l->in) > 0) {
		l->line[strnlen(l->line, SAVED_LINE_BYTES)] = 0;
		clean_line(l->line);
		l->now += 1e-6; /* the order counts */
		l->timed = false;
		text = read_part(l);
		if (text && !l->fields)
			return text;
	}
	return NULL;
}
