// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Draws the session, whose JSON docs/trace.schema.json describes. Names in it come from outside: they become text only.
"use strict";
(() => {
	const s = JSON.parse(document.getElementById("data").textContent);
	const PHASES = ["session", "slot", "send", "delay", "resend", "setup", "rtt", "finish"];
	const MEANING = {
		session: "slots of the NFSv4 session", slot: "RPC slots of the client", send: "the transmit path",
		delay: "the server, which asks to try again later", resend: "calls or segments that are lost",
		credentials: "upcalls for credentials", network: "the network", server: "the server", latency: "the network path to the server: more concurrent calls help, changes of the server do not", client_cpu: "the client's own CPU",
		application: "the application: too few concurrent calls", readahead: "readahead of buffered readers",
		writeback: "dirty pages and how they are synced", metadata: "calls for attributes", hung: "a server that does not answer", none: "nothing that could be named",
	};
	const redraw = [];

	// ---- texts ----

	const three = x => x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);
	const duration = x => !x ? "0" : x < 1e-6 ? three(x * 1e9) + " ns" : x < 1e-3 ? three(x * 1e6) + " µs" :
		x < 1 ? three(x * 1e3) + " ms" : x < 600 ? three(x) + " s" : (x / 60).toFixed(0) + " min";
	const count = x => Math.round(x).toLocaleString("en");
	// Times are those of the node's own clock and zone, whatever the reader's are.
	const local = t => t + s.utc_offset_seconds;
	const iso = t => new Date(local(t) * 1000).toISOString().slice(0, 19).replace("T", " ");
	const clock = t => iso(t).slice(11);
	const zone = (x => `${x < 0 ? "-" : "+"}${new Date(Math.abs(x) * 1000).toISOString().slice(11, 16)}`)(s.utc_offset_seconds);
	const bytes = x => x === undefined ? "-" : x < 1e6 ? three(x / 1e3) + " kB" : x < 1e9 ? three(x / 1e6) + " MB" : three(x / 1e9) + " GB";
	const percent = x => (100 * x).toFixed(x && x < 0.0995 ? 1 : 0) + " %";
	const sum = list => list.reduce((a, b) => a + b, 0);

	// ---- elements ----

	function make(name, attributes = {}, ...children) {
		const svg = ["svg", "rect", "line", "text", "title", "g"].includes(name);
		const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
		for (const [key, value] of Object.entries(attributes))
			e.setAttribute(key, value);
		e.append(...children);
		return e;
	}

	const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

	function swatch(phase) {
		const e = make("span", { class: "swatch" });
		e.style.background = `var(--${phase})`;
		return e;
	}

	function bar(phases, total) {
		const shown = PHASES.filter(p => phases[p] > 0.005 * total);
		const e = make("div", { class: "bar", role: "img",
			"aria-label": shown.map(p => `${p} ${percent(phases[p] / total)}`).join(", ") || "no time" });
		for (const p of shown) {
			const part = make("span", { title: `${p} ${percent(phases[p] / total)}` });
			part.style.background = `var(--${p})`;
			part.style.width = 100 * phases[p] / total + "%";
			e.append(part);
		}
		return e;
	}

	// columns: [head, value of a row, class]; the first one is the row's head.
	function table(caption, columns, rows) {
		const body = rows.map(row => make("tr", {}, ...columns.map(([, value, kind], i) =>
			make(i ? "td" : "th", { ...(i ? {} : { scope: "row" }), class: kind || "" }, value(row)))));
		return make("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 },
			make("table", {}, make("caption", {}, caption),
				make("thead", {}, make("tr", {}, ...columns.map(([head, , kind]) =>
					make("th", { scope: "col", class: kind || "" }, head)))),
				make("tbody", {}, ...body)));
	}

	const card = (...children) => make("section", { class: "card" }, ...children);

	function tiles(list) {
		return make("dl", { class: "tiles" }, ...list.map(([name, value]) =>
			make("div", {}, make("dt", {}, name), make("dd", {}, ...[value].flat()))));
	}

	// ---- verdict ----

	function verdict(server) {
		const v = server.verdict;
		if (v.bound_by === "none")
			return make("div", { class: "verdict" }, make("p", { class: "sentence" }, `${server.name}: ${v.sentence}`));
		const e = make("div", { class: "verdict" },
			make("p", {}, make("span", { class: "bound" }, `Bound by ${v.bound_by}`), `, confidence ${v.confidence}.`),
			make("p", { class: "quiet" }, `That is ${MEANING[v.bound_by] || v.bound_by}.`),
			make("p", { class: "sentence" }, v.sentence));
		if (v.advice)
			e.append(make("p", {}, v.advice[0].toUpperCase() + v.advice.slice(1)));
		if (server.commands.length)
			e.append(make("pre", {}, server.commands.join("\n")));
		return e;
	}

	// ---- what happened ----

	const GRAVITY = { ok: "good", warning: "warn", critical: "fail" };

	// Of a server: the times without answers, [begin, end]; the last one may last.
	function stalls(server) {
		const list = [];
		for (const e of s.events.filter(e => e.name === server.name))
			if (e.kind === "hung")
				list.push([e.time, 0]);
			else if (e.kind === "answers" && list.length)
				list.at(-1)[1] = e.time;
		return list;
	}

	const device = f => f.kind === "sxid" ? `NVSwitch ${f.device}` : f.device ? `GPU ${f.device}` : "GPU driver";
	const fault = f => f.kind === "xid" ? `Xid ${f.fault}` : f.kind === "sxid" ? f.fault.replace("sxid:", "SXid ") : f.fault;
	const open = s.faults.filter(f => f.state === "open" && f.level);

	// What happened, the gravest first: the program has written it.
	function headline() {
		const [first, ...others] = s.findings, kind = GRAVITY[first.level];
		const e = make("div", { class: `headline ${kind}` }, make("h1", {}, make("span", { class: "badge" }, first.level), " ", first.text));
		if (others.length)
			e.append(make("ul", {}, ...others.map(f => make("li", { class: GRAVITY[f.level] }, f.text))));
		return e;
	}

	function faultCard(list) {
		return card(make("h2", {}, "Faults of GPUs"), table("Faults of GPUs", [
			["fault", f => `${fault(f)} on ${device(f)}`, "wrap"], ["state", f => f.state],
			["meaning, and what to do", f => [f.meaning, f.advice].filter(t => t).join(". "), "wrap"],
			["reports", f => count(f.count), "number wide"], ["last", f => f.last ? iso(Date.parse(f.last) / 1000) : "-", "wide"],
		], list));
	}

	// Intervals that a chart shows as one: the last of a session, and others much shorter than most, belong to the one before.
	const usual = [...s.intervals.seconds].sort((a, b) => a - b)[s.intervals.seconds.length >> 1];
	const groups = [];
	s.intervals.seconds.forEach((seconds, i) => {
		if (groups.length && seconds < usual / 4)
			groups.at(-1).push(i);
		else
			groups.push([i]);
	});
	const sumOf = (group, column) => sum(group.map(i => column[i]));

	// A server is busy while its throughput is half or more of its best: bursts, not what always runs beside them.
	function busyTime(server) {
		const rates = series(server).rates.map(r => r[1]), most = Math.max(...rates);
		const of = column => sum(groups.map((g, i) => rates[i] && rates[i] >= most / 2 ? sumOf(g, column) : 0));
		return { of, seconds: of(s.intervals.seconds) };
	}

	// Of the whole session, and of the busy time, if that is much less.
	function rate(text, column, busy) {
		const mean = text(sum(column) / s.seconds);
		return !sum(column) ? "-" : busy.seconds > 0.9 * s.seconds ? mean :
			[mean, make("small", {}, `${text(busy.of(column) / busy.seconds)} while busy`)];
	}

	function numbers(server) {
		const trouble = ["retransmits", "timeouts", "disconnects", "errors"].filter(k => server[k]);
		const worst = Math.max(0, ...server.timeline.oldest_seconds), or_none = text => server.calls ? text : "-";
		const busy = busyTime(server), t = server.timeline;
		const list = [
			["calls per second", rate(count, t.calls, busy)],
			["received per second", rate(bytes, t.received_bytes, busy)],
			["sent per second", rate(bytes, t.sent_bytes, busy)],
			["busy", or_none(percent(busy.seconds / s.seconds))],
			["mean call", or_none(duration(server.mean))],
			["calls at once", rate(three, t.call_seconds, busy)],
		];
		if ("p99" in server)
			list.splice(5, 0, ["99 % of calls within", or_none(duration(server.p99))]);
		if (worst >= 5)
			list.push(["longest wait for an answer", duration(worst)]);
		for (const key of trouble)
			list.push([key, count(server[key])]);
		return tiles(list);
	}

	// ---- timeline: throughput, bands of what happened, and the phases' shares of the calls' time ----

	function series(server) {
		const t = server.timeline;
		const in_bytes = (server.sent_bytes + server.received_bytes) / s.seconds > 1e5;
		const time = i => new Date(local(s.start + s.intervals.start[i]) * 1000);
		const used = PHASES.filter(p => t.phases[p].some(x => x > 0));
		return {
			unit: in_bytes ? "MB/s" : "calls/s", used,
			rates: groups.map(g => {
				const moved = in_bytes ? (sumOf(g, t.sent_bytes) + sumOf(g, t.received_bytes)) / 1e6 : sumOf(g, t.calls);
				return [time(g[0]), moved / (sumOf(g, s.intervals.seconds) || 1)];
			}),
			shares: groups.map(g => {
				const all = sum(PHASES.map(p => sumOf(g, t.phases[p])));
				return [time(g[0]), ...used.map(p => all ? 100 * sumOf(g, t.phases[p]) / all : 0)];
			}),
		};
	}

	function marks(server) {
		return s.events.filter(e => e.kind === "fault" || e.kind === "kernel_event" || e.name === server.name);
	}

	// The times in which calls waited for a limit for half of each interval or more: [begin, end, text].
	function saturated(server) {
		const list = [];
		s.intervals.start.forEach((start, i) => {
			const begin = s.start + start, end = begin + s.intervals.seconds[i], last = list.at(-1);
			if (server.timeline.saturated_seconds[i] < s.intervals.seconds[i] / 2)
				return;
			if (last && begin - last[1] < 0.01)
				last[1] = end;
			else
				list.push([begin, end, "calls waited for a slot, or to transmit"]);
		});
		return list;
	}

	// Rows of [label, colour, [[begin, end, text], ...]]; those without an entry are left out.
	function bands(server) {
		const end = s.start + s.seconds;
		return [
			["episodes", "accent", s.episodes.filter(e => e.server === server.name).map(e => [e.start, e.start + e.seconds, e.kind])],
			["no answer", "bad", stalls(server).map(([begin, until]) => [begin, until || end, duration((until || end) - begin)])],
			["limit full", "slot", saturated(server)],
			["faults", "bad", s.events.filter(e => e.kind === "fault").map(e => [e.time, e.time, "xid" in e ? `Xid ${e.xid}` : `SXid ${e.sxid}`])],
			["kernel", "bad", s.events.filter(e => e.kind === "kernel_event").map(e => [e.time, e.time, e.text])],
		].filter(row => row[2].length);
	}

	const BAND = 18;

	// Below the plotted area of @graph, which may be zoomed in.
	function drawBands(svg, rows, graph) {
		const area = graph.getArea(), [from, to] = graph.xAxisRange();
		const x_of = t => area.x + Math.min(1, Math.max(0, (local(t) * 1000 - from) / (to - from))) * area.w;
		svg.setAttribute("viewBox", `0 0 ${svg.clientWidth || 900} ${rows.length * BAND}`);
		svg.style.height = rows.length * BAND + "px";
		svg.replaceChildren();
		rows.forEach(([label, tint, list], row) => {
			let taken = 0;
			svg.append(make("text", { x: area.x - 6, y: row * BAND + 13, "text-anchor": "end" }, label));
			for (const [begin, end, text] of list.filter(b => local(b[1]) * 1000 >= from && local(b[0]) * 1000 <= to)) {
				const x = x_of(begin), width = Math.max(3, x_of(end) - x);
				const e = make("g", {}, make("title", {}, `${clock(begin)}${end > begin ? ` to ${clock(end)}` : ""}: ${text}`),
					make("rect", { x, width, y: row * BAND + 2, height: BAND - 5, fill: colour(tint), "fill-opacity": end > begin ? 0.25 : 1 }));
				// A text that does not fit is in the title alone.
				const size = 6.5 * text.length + 8, left = end === begin && x + size > area.x + area.w ? x - size : x;
				if (left >= taken && (end === begin || width > size)) {
					e.append(make("text", { class: "in", x: left === x ? x + 5 : x - 5, y: row * BAND + 13, "text-anchor": left === x ? "start" : "end" }, text));
					taken = left + size;
				}
				svg.append(e);
			}
		});
	}

	function timeline(server) {
		const { unit, used, rates, shares } = series(server), rows = bands(server);
		const drawn = used.length && rates.length > 1;
		if (!drawn)
			return [make("p", { class: "quiet" }, "No calls ended in two intervals or more: there is no chart.")];
		const figure = name => make("div", { class: "chart", role: "img", "aria-label": name });
		const ends = rates.map(r => r[1]);
		const line = figure(`Throughput in ${unit} over time: at most ${three(Math.max(...ends))}, at the end ${three(ends.at(-1))}`);
		const stack = figure("The phases' shares of the calls' time, in percent, over the same time");
		const svg = make("svg", { class: "bands", role: "img", "aria-label": rows.map(([label, , list]) => `${label}: ${list.length}`).join(", ") || "nothing happened" });
		const readout = make("p", { class: "readout", "aria-hidden": "true" }, "Point at a chart for figures; drag to enlarge, double-click to go back.");
		const legend = make("ul", { class: "legend" }, ...used.map(p => make("li", {}, swatch(p), p)));
		redraw.push(() => {
			let graphs = [];
			const follow = graph => {
				drawBands(svg, rows, graph);
				for (const other of graphs)
					if (other !== graph && other.xAxisRange().join() !== graph.xAxisRange().join())
						other.updateOptions({ dateWindow: graph.xAxisRange() });
			};
			const options = {
				legend: "never", labelsUTC: true, gridLineColor: colour("line"), axisLineColor: colour("line"), includeZero: true,
				highlightCircleSize: 3, animatedZooms: false, strokeWidth: 1.5, drawCallback: follow,
				axes: { y: { axisLabelWidth: 56 }, x: { axisLabelWidth: 64 } },
				highlightCallback: (event, time, points, row) => {
					readout.textContent = `${rates[row][0].toISOString().slice(11, 19)}  ${three(rates[row][1])} ${unit}: ` +
						used.map((p, i) => `${p} ${shares[row][i + 1].toFixed(0)} %`).join(", ");
				},
			};
			line.textContent = stack.textContent = "";
			graphs = [
				new Dygraph(line, rates, { ...options, labels: ["time", unit], colors: [colour("accent")], ylabel: unit }),
				new Dygraph(stack, shares, { ...options, labels: ["time", ...used], colors: used.map(colour), stackedGraph: true,
					fillAlpha: 0.75, strokeWidth: 1, ylabel: "%", valueRange: [0, 100.01] }),
			];
		});
		return [make("h3", {}, `Throughput, ${unit}`), line, svg,
			make("h3", {}, "What the time of the calls was spent on, %"), stack, legend, readout];
	}

	// ---- latency heatmap ----

	const HEAT_COLUMNS = 150, HEAT_HEIGHT = 192;

	// Counts by column and row; a row is half an octave.
	function heat(server) {
		const buckets = server.timeline.buckets, step = Math.ceil(groups.length / HEAT_COLUMNS);
		const columns = [];
		let low = Infinity, high = 0, most = 0;
		groups.forEach((group, i) => {
			const column = columns[Math.floor(i / step)] ||= { begin: s.start + s.intervals.start[group[0]], rows: new Map() };
			column.end = s.start + s.intervals.start[group.at(-1)] + s.intervals.seconds[group.at(-1)];
			for (const [bucket, calls] of group.flatMap(interval => buckets[interval])) {
				const row = Math.floor(bucket / 2);
				column.rows.set(row, (column.rows.get(row) || 0) + calls);
				low = Math.min(low, row);
				high = Math.max(high, row);
				most = Math.max(most, column.rows.get(row));
			}
		});
		return { columns, low, high, most };
	}

	function heatmap(server) {
		if (!server.timeline.buckets || !server.calls)
			return [];
		const { columns, low, high, most } = heat(server);
		const name = `How long calls took over time: from ${duration(s.bucket_bounds[2 * low])} to ` +
			`${duration(s.bucket_bounds[Math.min(2 * high + 1, s.bucket_bounds.length - 1)])}; stronger colours are more calls`;
		const svg = make("svg", { class: "heat", role: "img", "aria-label": name });
		const draw = () => {
			const width = svg.clientWidth || 900, left = 56, bottom = 20, rows = high - low + 1;
			const h = (HEAT_HEIGHT - bottom) / rows;
			const begin = s.start, x_of = t => left + (t - begin) / s.seconds * (width - left);
			svg.setAttribute("viewBox", `0 0 ${width} ${HEAT_HEIGHT}`);
			svg.replaceChildren();
			const every = Math.max(1, Math.ceil(rows / 7));
			for (let row = low; row <= high; row += every) {
				const y = HEAT_HEIGHT - bottom - (row - low) * h;
				svg.append(make("line", { class: "grid", x1: left, x2: width, y1: y, y2: y }),
					make("text", { x: left - 6, y: y - h / 2 + 4, "text-anchor": "end" }, duration(s.bucket_bounds[Math.min(2 * row + 1, s.bucket_bounds.length - 1)])));
			}
			columns.forEach(column => column.rows.forEach((calls, row) => svg.append(make("rect", {
				x: x_of(column.begin), y: HEAT_HEIGHT - bottom - (row - low + 1) * h, width: x_of(column.end) - x_of(column.begin) + 0.3, height: h,
				fill: `rgba(${colour("heat")}, ${0.12 + 0.88 * Math.log1p(calls) / Math.log1p(most)})`,
			}))));
			for (const e of marks(server))
				svg.append(make("line", { class: "mark", x1: x_of(e.time), x2: x_of(e.time), y1: 0, y2: HEAT_HEIGHT - bottom }));
			const labels = Math.max(2, Math.floor(width / 160));
			for (let i = 0; i <= labels; i++)
				svg.append(make("text", { x: left + i / labels * (width - left), y: HEAT_HEIGHT - 4,
					"text-anchor": i === 0 ? "start" : i === labels ? "end" : "middle" }, clock(begin + s.seconds * i / labels)));
		};
		redraw.push(draw);
		return [make("h3", {}, "Duration of calls"), make("p", { class: "quiet" }, "The stronger the colour, the more calls; its scale is logarithmic."), svg];
	}

	// ---- tables ----

	function ops(server) {
		if (!server.ops.length)
			return [];
		const columns = [
			["op", o => o.op], ["calls", o => count(o.calls), "number"],
			["moved", o => bytes(o.sent_bytes + o.received_bytes), "number wide"],
			["all time", o => duration(o.seconds), "number wide"], ["mean", o => duration(o.mean), "number"],
		];
		if ("p50" in server)
			for (const key of ["p50", "p90", "p99", "max"])
				columns.push([key, o => duration(o[key]), "number wide"]);
		columns.push(["phases", o => bar(o.phases, o.seconds)]);
		return [make("h3", {}, "Ops, the costliest first"), table(`Ops of ${server.name}`, columns, server.ops)];
	}

	function shares(server, title, column, list) {
		if (!list.length)
			return [];
		return [make("h3", {}, title), table(`${title} of ${server.name}`, [
			column, ["calls", m => count(m.calls), "number wide"],
			["sent", m => bytes(m.sent_bytes), "number wide"], ["received", m => bytes(m.received_bytes), "number wide"],
			["mean", m => duration(m.seconds / m.calls), "number wide"],
			["held slots", m => percent(m.held_share), "number"],
			["waited", m => percent(m.waited_share), "number wide"],
			["phases", m => bar(m.phases, m.seconds)],
		], list)];
	}

	function transports(server) {
		const list = server.transports.filter(t => t.remote);
		if (!list.length)
			return [];
		return [make("h3", {}, "Connections"), table(`Connections to ${server.name}`, [
			["name", t => t.name], ["local", t => t.local || "not connected", "wide"], ["remote", t => t.remote],
			["replies", t => count(t.replies), "number"],
			["mean to a reply", t => t.replies ? duration(t.rtt_seconds / t.replies) : "-", "number"],
			["waited for a slot", t => percent(t.saturated_seconds.slot / s.seconds), "number"],
			["oldest call", t => t.oldest_seconds ? duration(t.oldest_seconds) : "-", "number"],
		], list)];
	}

	function serverCard(server) {
		const where = server.mounts.map(m => `${m.mountpoint} (${m.export}, NFS ${m.version})`).join("; ");
		return card(make("h2", {}, server.name), verdict(server), ...(where ? [make("p", { class: "quiet" }, where)] : []),
			numbers(server), ...timeline(server), ...heatmap(server), ...ops(server),
			...shares(server, "Mounts", ["mount point", m => m.mountpoint || "no mount", "wrap"], server.mount_calls),
			...shares(server, "Owners", ["owner", o => o.owner, "wrap"], server.owner_calls),
			...shares(server, "Owners on mounts", ["owner, mount point", o => `${o.owner}, ${o.mountpoint || "no mount"}`, "wrap"],
				Math.min(server.mount_calls.length, server.owner_calls.length) > 1 ? server.owner_mount_calls : []),
			...transports(server));
	}

	const process = c => `${c.comm || "ended"} (${c.pid})${c.owner ? ", " + c.owner : ""}`;
	const sections = [
		[s.episodes, "Checkpoint episodes", [
			["start", e => clock(e.start)], ["kind", e => e.kind], ["server", e => e.server, "wide"],
			["length", e => duration(e.seconds), "number"], ["bytes", e => bytes(e.bytes), "number wide"],
			["mean rate", e => bytes(e.mean_rate) + "/s", "number wide"], ["peak rate", e => bytes(e.peak_rate) + "/s", "number wide"],
			["bound by", e => e.bound_by], ["phases", e => bar(e.shares, 1)],
		]],
		[s.events, "Faults and events", [
			["time", e => clock(e.time)], ["kind", e => e.kind.replace("_", " ")], ["what", e => e.text, "wrap"],
		]],
		[s.slow_calls, "Slowest calls", [
			["end", c => clock(c.end)], ["took", c => duration(c.seconds), "number"], ["op", c => c.op, "wide"],
			["process", process, "wrap"], ["server", c => c.server, "wide"], ["mount", c => (c.mount || (c.file ? c.server + ":" : "not known")) + (c.file || ""), "wrap"],
			["phases", c => bar(c.phases, c.seconds)],
		]],
		...["files", "directories"].map(kind => [s[kind] || [], `${kind[0].toUpperCase()}${kind.slice(1)} with most calls, bytes and time`, [
			["op", f => f.op], ["calls", f => count(f.calls), "number"], ["bytes", f => bytes(f.bytes), "number"], ["took", f => duration(f.seconds), "number"],
			["path", f => (f.mount || f.server + (f.path && ":")) + (f.path || ", no name"), "wrap"], ["first process", process, "wrap"],
		]]),
	];

	const main = document.getElementById("main");
	document.getElementById("session").textContent = [s.host || "host not known", `${iso(s.start)} ${zone}`, duration(s.seconds),
		`Linux ${s.kernel}`, `xidscope ${s.xidscope}, source ${s.source}`].join(" · ") + (s.not_observed ? `; not observed: ${s.not_observed}` : "");
	document.title = `${s.host} ${iso(s.start)}: xidscope session`;
	main.append(headline());
	if (open.length)
		main.append(faultCard(s.faults));
	for (const server of s.servers)
		main.append(serverCard(server));
	if (!s.servers.length)
		main.append(card(make("h2", {}, "No NFS server"), make("p", {}, "No call was seen, or a filter leaves the servers out.")));
	if (s.faults.length && !open.length)
		main.append(faultCard(s.faults));
	for (const [list, name, columns] of sections)
		if (list.length)
			main.append(card(make("h2", {}, name), table(name, columns, list)));
	if (s.lost.length)
		main.append(card(make("h2", {}, "Incomplete"), ...s.lost.map(l => make("p", { class: "bad" }, `${count(l.count)} records lost: ${l.reason}`))));

	const draw = () => redraw.forEach(f => f());
	draw();
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
	let timer;
	addEventListener("resize", () => { clearTimeout(timer); timer = setTimeout(draw, 150); });
})();
