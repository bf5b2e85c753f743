# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Turns a table of data into rows of C, "TABLE_ROW(VALUE, ...)", for a file that defines TABLE_ROW and includes them. The
# definition ends with the rows.
# The first row has the names of the columns, which tell what a value becomes:
#   name   a text of C; a backslash begins an escape
#   NAME   the same as it stands: a constant, or another expression
#   Name   both: the text in upper case, for an enum, and the text
#   note   nothing: it is for people, as are lines that begin with "# "
#   EACH   the last: lines below a row, which begin with a tab, have such values; each value is a row with those of the row above
# Plain POSIX awk. A row with another number of values ends it with status 1, so that a build stops.
# Character by character: what sub() makes of quotes differs between awks.
function quoted(text,    i, c, out)
{
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		out = out (c == "\"" ? "\\" c : c)
	}
	return "\"" out "\""
}

BEGIN {
	FS = "\t"
}

/^# / {
	next
}

!columns {
	columns = NF
	for (i = 1; i <= NF; i++)
		column[i] = $i
	each = column[NF] == "EACH"
	next
}

/^\t/ && each {
	for (i = 2; i <= NF; i++) {
		sub(" ", ", ", $i)
		print "TABLE_ROW(" row ", " $i ")"
	}
	next
}

NF + each != columns {
	printf "%s:%d: %d values in %d columns\n", FILENAME, FNR, NF, columns | "cat >&2"
	exit 1
}

{
	row = ""
	for (i = 1; i <= NF; i++) {
		value = column[i] ~ /^[A-Z]/ ? toupper($i) : quoted($i)
		if (column[i] == toupper(column[i]))
			value = $i
		else if (column[i] ~ /^[A-Z]/)
			value = value ", " quoted($i)
		if (column[i] != "note")
			row = row (row ? ", " : "") value
	}
	if (!each)
		print "TABLE_ROW(" row ")"
}

END {
	print "#undef TABLE_ROW"
}
