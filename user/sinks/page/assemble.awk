# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Puts files into page.html, each in place of the line that names it: awk -v STYLE=FILE -v ... -f assemble.awk page.html
/^@[A-Z_]+@$/ {
	name = substr($0, 2, length($0) - 2)
	file = name == "STYLE" ? STYLE : name == "SCRIPT" ? SCRIPT : name == "DYGRAPHS_CSS" ? DYGRAPHS_CSS : name == "DYGRAPHS_JS" ? DYGRAPHS_JS : ""
	read = 0
	while ((getline line <file) > 0) {
		if (line ~ /sourceMappingURL=/)
			continue # it names a file that the page does not have
		print line
		read = 1
	}
	if (!read) {
		print "assemble.awk: cannot read '" file "' for @" name "@" >"/dev/stderr"
		exit 1
	}
	next
}
{ print }
