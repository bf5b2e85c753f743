# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Turns xid_catalog.tsv into the initialisers of a C array indexed by Xid.
# Plain POSIX awk. Any bad row ends it with status 1, so that a build stops:
# field count, codes not ascending, unknown categories, values unfit for labels.
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

BEGIN { FS = "\t" }

/^#/ { next }

# The names of the columns stand in the first row.
$1 == "xid" { next }

{
	if (NF != 6)
		fail("6 fields expected, found " NF)
	if ($1 !~ /^[1-9][0-9]*$/ || $1 > 9999)
		fail("xid is not a number from 1 to 9999")
	if ($1 + 0 <= last)
		fail("xid does not ascend")
	if ($4 !~ /^(app|driver|fabric|hw|info|unused)$/)
		fail("category is not app, driver, fabric, hw, info or unused")
	if ($6 !~ /^(info|warning|fatal)$/)
		fail("severity is not info, warning or fatal")
	for (i = 2; i <= 6; i++)
		if ($i == "" || $i ~ /[^ -~]/)
			fail("field " i " is empty or not printable ASCII")
	for (i = 4; i <= 6; i++)
		if ($i !~ /^[a-z0-9_]+$/)
			fail("field " i " is not lower case with underscores")
	last = $1 + 0
	printf "[%d] = {%d, %s, %s, %s, %s, %s},\n", last, last, \
		quoted($2), quoted($3), quoted($4), quoted($5), quoted($6)
}

END {
	if (!failed && !last)
		fail("no entries")
}
