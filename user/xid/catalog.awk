# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Turns a table of this folder into the initialisers of a C array. The names of the columns, in the first row, tell which:
#   xid_catalog.tsv   Xids; the array is indexed by the code
#   sxid_catalog.tsv  SXids: a row of what some have in common, then rows of those, which begin with an empty field
#   action_advice.tsv the sentence for the engineer on call, by action
#   xid_text.tsv      what the text of an Xid decides, ascending; of one code, the first rule that fits counts
# Plain POSIX awk. Any bad row ends it with status 1, so that a build stops: field count, order of the codes, values
# outside the known ones, values unfit for labels. "source" is where a row was taken from: a URL or a file.
function fail(why)
{
	printf "%s:%d: %s\n", FILENAME, FNR, why | "cat >&2"
	failed = 1
	exit 1
}

# Character by character: what sub() makes of backslashes differs between awks.
function quoted(text,    i, c, out)
{
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		out = out (c == "\\" || c == "\"" ? "\\" c : c)
	}
	return "\"" out "\""
}

function need(i, pattern)
{
	if ($i !~ "^(" pattern ")$")
		fail(column[i] " is not " pattern)
}

# A condition is N:MASK, word N has no other bits; or N:MASK=VALUE, those of its bits are VALUE.
function conditions(text,    i, n, part, list, out)
{
	if (text == "-")
		return "{}"
	n = split(text, list, " ")
	for (i = 1; i <= n; i++) {
		if (list[i] !~ /^[1-7]:0x[0-9a-f]+(=0x[0-9a-f]+)?$/)
			fail("words is not -, or N:MASK or N:MASK=VALUE with N from 1 to 7")
		split(list[i], part, /[:=]/)
		out = out sprintf("[%d] = {%s, %s}, ", part[1] - 1, \
			part[3] ? part[2] "u" : "~" part[2] "u", part[3] ? part[3] "u" : "0")
	}
	return "{" out "}"
}

BEGIN {
	FS = "\t"
	word = "[a-z0-9_]+"
}

NR == 1 {
	columns = NF
	for (i = 1; i <= NF; i++)
		column[i] = $i
	table = $2 == "sentence" ? "advice" : $1 == "action" ? "sxid" : $2 == "name" ? "text" : $1
	next
}

table == "sxid" && $1 == "" {
	for (i = 2; i <= NF; i++) {
		if ($i !~ /^[1-9][0-9]+ [A-Z0-9_]+$/ || split($i, sxid, " ") != 2 || sxid[1] in seen || !common)
			fail("no SXid and its name, or one that is there: " $i)
		seen[sxid[1]]
		printf "{%d, %s, %s},\n", sxid[1], quoted(sxid[2]), common
	}
	next
}

{
	if (NF != columns)
		fail(columns " fields expected, found " NF)
	for (i = 1; i <= NF; i++)
		if ($i == "" || $i ~ /[^ -~]/)
			fail(column[i] " is empty or not printable ASCII")
	last = $1
}

table == "advice" {
	need(1, word)
	need(2, ".*[.]")
	printf "{%s, %s},\n", quoted($1), quoted($2)
}

table == "xid" || table == "text" {
	need(1, "[1-9][0-9]?[0-9]?[0-9]?[0-9]?")
	if ($1 + 0 < code || ($1 + 0 == code && table != "text"))
		fail(column[1] " does not ascend")
	code = $1 + 0
}

table == "xid" {
	need(5, "app|driver|fabric|hw|info|unused")
	need(6, word)
	need(7, "fatal|warning|info")
	printf "[%d] = {%d, %s, %s, %s, %s, %s, %s, %s},\n", $1, $1, quoted($2), $3 == "-" ? "NULL" : quoted($3), \
		quoted($4), quoted($5), quoted($6), quoted($7), quoted($8)
}

table == "sxid" {
	need(1, word)
	need(2, "fatal|warning|info")
	need(3, "always|unstated")
	common = quoted($1) ", " quoted($2) ", " ($3 == "always" ? "true" : "false")
}

table == "text" {
	need(3, "any|fatal|nonfatal")
	need(5, "fatal|warning|info")
	need(6, word)
	printf "{%d, %s, XID_%s, %s, %s, %s},\n", $1, quoted($2), \
		$3 == "any" ? "FATALITY_UNSTATED" : toupper($3), conditions($4), quoted($5), quoted($6)
}

END {
	if (!failed && !last)
		fail("no entries")
}
