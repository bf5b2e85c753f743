// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Runs axe on the page that it is in, checks that each part was drawn, and replaces the page by what was found.
"use strict";
const problems = [];
addEventListener("error", e => problems.push(`error: ${e.message}`));
document.addEventListener("securitypolicyviolation", e => problems.push(`asks for ${e.blockedURI}`));
// The least of each; .tiles small: bursts beside the mean.
const parts = { ".headline.fail": 1, h2: 3, ".verdict": 2, ".chart canvas": 4, "svg.bands rect": 6, "svg.heat rect": 100, "svg.heat .mark": 2, ".tiles dd": 10, ".tiles small": 4, "table": 7, ".bar span": 10 };
const width = Number(location.search.slice(1)) || innerWidth;
document.documentElement.style.width = width + "px";
dispatchEvent(new Event("resize"));
setTimeout(async () => {
	for (const [selector, least] of Object.entries(parts))
		if (document.querySelectorAll(selector).length < least)
			problems.push(`${document.querySelectorAll(selector).length} of ${selector} instead of ${least}`);
	if (!/^node-17 \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: xidscope session$/.test(document.title))
		problems.push(`the title is ${document.title}: a name has broken out`);
	for (const text of ["critical Xid 79 on GPU 0000:c1:00.0: open, fatal, ", ": GPU no longer answers on the PCIe bus. Drain the node", "did not answer for 25.0 s, from 18:34:46 to 18:35:11, "])
		if (!document.querySelector(".headline").textContent.includes(text))
			problems.push(`the headline is ${document.querySelector(".headline").textContent}`);
	if (document.body.scrollWidth > width)
		problems.push(`the page is ${document.body.scrollWidth} pixels wide`);
	for (const bar of document.querySelectorAll(".bar"))
		if (bar.getBoundingClientRect().right > bar.closest(".scroll").getBoundingClientRect().right)
			problems.push(`phases of ${bar.closest("tr").textContent} are out of view`);
	const result = await axe.run(document, { resultTypes: ["violations"] });
	for (const v of result.violations)
		problems.push(`${v.id} (${v.impact}): ${v.help}: ${v.nodes.map(n => n.target + " " + n.failureSummary).join(" | ").slice(0, 600)}`);
	const pre = document.createElement("pre");
	pre.id = "findings";
	pre.textContent = problems.length ? problems.join("; ").replaceAll("\n", " ") : `fine: ${result.passes.length} rules of axe ${axe.version} hold`;
	document.body.replaceChildren(pre);
}, 400);
