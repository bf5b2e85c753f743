// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Draws the session, whose JSON docs/trace.schema.json describes. Names in it come from outside: they become text only.
"use strict";
(() => {
	const s = JSON.parse(document.getElementById("data").textContent);
	const PHASES = ["session", "slot", "send", "delay", "resend", "setup", "rtt", "finish"];
	const MEANING = {
		session: "slots of the NFSv4 session", slot: "RPC slots of the client", send: "the transmit path",
		delay: "the server, which asks to try again later", resend: "calls or segments that are lost",
		credentials: "upcalls for credentials", network: "the network", server: "the server", client_cpu: "the client's own CPU",
		application: "the application: too few calls at once", hung: "a server that does not answer", none: "nothing that could be named",
	};
	const redraw = [];

	// ---- texts ----

	const three = x => x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);
	const duration = x => !x ? "0" : x < 1e-6 ? three(x * 1e9) + " ns" : x < 1e-3 ? three(x * 1e6) + " µs" :
		x < 1 ? three(x * 1e3) + " ms" : x < 600 ? three(x) + " s" : (x / 60).toFixed(0) + " min";
	const count = x => Math.round(x).toLocaleString("en");
	const clock = t => new Date(t * 1000).toLocaleTimeString("en-GB");
	const bytes = x => x < 1e6 ? three(x / 1e3) + " kB" : x < 1e9 ? three(x / 1e6) + " MB" : three(x / 1e9) + " GB";
	const percent = x => (100 * x).toFixed(x < 0.0995 ? 1 : 0) + " %";
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
			make("div", {}, make("dt", {}, name), make("dd", {}, value))));
	}

	// ---- verdict ----

	const remedy = v => {
		const p = make("p", {}, v.value ? "Set " : "Change ", make("code", {}, v.setting));
		if (v.value)
			p.append(" to ", make("code", {}, v.value));
		if (v.remount)
			p.append(", then mount again");
		p.append(".");
		if (v.gain_expected > 0)
			p.append(` Expected throughput while calls run: ${v.gain_expected.toFixed(1)} times, if the server has no limit just above; at most ${v.gain_at_most.toFixed(1)}.`);
		else if (v.gain_at_most > 0)
			p.append(` Throughput while calls run: at most ${v.gain_at_most.toFixed(1)} times.`);
		return p;
	};

	function verdict(server) {
		const v = server.verdict;
		const e = make("div", { class: `verdict ${v.confidence}` },
			make("p", {}, make("span", { class: "bound" }, `Bound by ${v.bound_by} `),
				make("span", { class: `badge ${v.confidence}` }, `confidence: ${v.confidence}`)),
			make("p", { class: "quiet" }, `That is ${MEANING[v.bound_by] || v.bound_by}.`),
			make("p", { class: "sentence" }, v.sentence));
		e.style.color = "var(--text)";
		if (v.setting)
			e.append(remedy(v));
		return e;
	}

	function numbers(server) {
		const trouble = ["retransmits", "timeouts", "disconnects", "errors"].filter(k => server[k]);
		const worst = Math.max(0, ...server.timeline.oldest_seconds);
		const list = [
			["calls per second", count(server.calls / s.seconds)],
			["received per second", bytes(server.received_bytes / s.seconds)],
			["sent per second", bytes(server.sent_bytes / s.seconds)],
			["mean call", duration(server.mean)],
			["calls at once", three(server.seconds / s.seconds)],
		];
		if ("p99" in server)
			list.splice(4, 0, ["99 % of calls within", duration(server.p99)]);
		if (worst >= 5)
			list.push(["longest wait for an answer", duration(worst)]);
		for (const key of trouble)
			list.push([key, count(server[key])]);
		return tiles(list);
	}

	// ---- timeline: throughput, stacked by the phases' shares of the calls' time ----

	function series(server) {
		const t = server.timeline;
		const moved = server.sent_bytes + server.received_bytes;
		const in_bytes = moved / s.seconds > 1e5;
		const rows = s.intervals.start.map((start, i) => {
			const amount = in_bytes ? (t.sent_bytes[i] + t.received_bytes[i]) / 1e6 : t.calls[i];
			const rate = s.intervals.seconds[i] ? amount / s.intervals.seconds[i] : 0;
			const time = sum(PHASES.map(p => t.phases[p][i])) || 1;
			return [new Date((s.start + start) * 1000), ...PHASES.map(p => rate * t.phases[p][i] / time)];
		});
		const used = PHASES.filter((p, n) => rows.some(r => r[n + 1] > 0));
		const keep = [0, ...used.map(p => PHASES.indexOf(p) + 1)];
		return { unit: in_bytes ? "MB/s" : "calls/s", used, rows: rows.map(r => keep.map(k => r[k])) };
	}

	function marks(server) {
		return s.events.filter(e => e.kind === "fault" || e.kind === "kernel_event" || e.name === server.name);
	}

	function underlay(server) {
		return (canvas, area, graph) => {
			canvas.fillStyle = colour("band");
			for (const e of s.episodes.filter(e => e.server === server.name)) {
				const left = graph.toDomXCoord(e.start * 1000), right = graph.toDomXCoord((e.start + e.seconds) * 1000);
				canvas.fillRect(left, area.y, right - left, area.h);
			}
			canvas.fillStyle = colour("bad");
			for (const e of marks(server)) {
				const x = graph.toDomXCoord(e.time * 1000);
				canvas.fillRect(x - 1, area.y, 2, area.h);
			}
		};
	}

	function timeline(server) {
		const { unit, used, rows } = series(server);
		const name = `Throughput in ${unit} over time, stacked by phase: the phases' shares are in the table of ops`;
		const chart = make("div", { class: "chart", role: "img", "aria-label": name });
		const readout = make("p", { class: "readout", "aria-hidden": "true" }, "Point at the chart for figures; drag to enlarge, double-click to go back.");
		const legend = make("ul", { class: "legend" }, ...used.map(p => make("li", {}, swatch(p), p)));
		if (s.episodes.some(e => e.server === server.name))
			legend.append(make("li", { class: "quiet" }, "shaded: episodes"));
		if (marks(server).length)
			legend.append(make("li", { class: "bad" }, "line: fault or event"));
		redraw.push(() => {
			if (!used.length || rows.length < 2) {
				chart.className = "quiet";
				chart.textContent = "No calls ended in two intervals or more.";
				return;
			}
			chart.textContent = "";
			new Dygraph(chart, rows, {
				labels: ["time", ...used], colors: used.map(colour), stackedGraph: true, fillAlpha: 0.75, strokeWidth: 1,
				legend: "never", ylabel: unit, gridLineColor: colour("line"), axisLineColor: colour("line"),
				includeZero: true, underlayCallback: underlay(server), highlightCircleSize: 3, animatedZooms: false,
				axes: { y: { axisLabelWidth: 48 }, x: { axisLabelWidth: 64 } },
				highlightCallback: (event, time, points, row) => {
					readout.textContent = `${clock(time / 1000)}  ${three(sum(rows[row].slice(1)))} ${unit}: ` +
						used.map((p, i) => `${p} ${three(rows[row][i + 1])}`).join(", ");
				},
			});
		});
		return [make("h3", {}, `Throughput by phase, ${unit}`), chart, readout, legend];
	}

	// ---- latency heatmap ----

	const HEAT_COLUMNS = 150, HEAT_HEIGHT = 192;

	// Counts by column and row; a row is half an octave.
	function heat(server) {
		const buckets = server.timeline.buckets, step = Math.ceil(buckets.length / HEAT_COLUMNS);
		const columns = [];
		let low = Infinity, high = 0, most = 0;
		buckets.forEach((list, i) => {
			const column = columns[Math.floor(i / step)] ||= new Map();
			for (const [bucket, calls] of list) {
				const row = Math.floor(bucket / 2);
				column.set(row, (column.get(row) || 0) + calls);
				low = Math.min(low, row);
				high = Math.max(high, row);
				most = Math.max(most, column.get(row));
			}
		});
		return { columns, low, high, most, step };
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
			const w = (width - left) / columns.length, h = (HEAT_HEIGHT - bottom) / rows;
			const begin = s.start, x_of = t => left + (t - begin) / s.seconds * (width - left);
			svg.setAttribute("viewBox", `0 0 ${width} ${HEAT_HEIGHT}`);
			svg.replaceChildren();
			const every = Math.max(1, Math.ceil(rows / 7));
			for (let row = low; row <= high; row += every) {
				const y = HEAT_HEIGHT - bottom - (row - low) * h;
				svg.append(make("line", { class: "grid", x1: left, x2: width, y1: y, y2: y }),
					make("text", { x: left - 6, y: y - h / 2 + 4, "text-anchor": "end" }, duration(s.bucket_bounds[Math.min(2 * row + 1, s.bucket_bounds.length - 1)])));
			}
			columns.forEach((column, i) => column.forEach((calls, row) => svg.append(make("rect", {
				x: left + i * w, y: HEAT_HEIGHT - bottom - (row - low + 1) * h, width: w + 0.3, height: h,
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
			["moved", o => bytes(o.sent_bytes + o.received_bytes), "number"],
			["all time", o => duration(o.seconds), "number"], ["mean", o => duration(o.mean), "number"],
		];
		if ("p50" in server)
			for (const key of ["p50", "p90", "p99", "max"])
				columns.push([key, o => duration(o[key]), "number"]);
		columns.push(["phases", o => bar(o.phases, o.seconds)]);
		return [make("h3", {}, "Ops, the costliest first"), table(`Ops of ${server.name}`, columns, server.ops)];
	}

	function transports(server) {
		const list = server.transports.filter(t => t.remote);
		if (!list.length)
			return [];
		return [make("h3", {}, "Connections"), table(`Connections to ${server.name}`, [
			["name", t => t.name], ["local", t => t.local || "not connected"], ["remote", t => t.remote],
			["replies", t => count(t.replies), "number"],
			["mean to a reply", t => t.replies ? duration(t.rtt_seconds / t.replies) : "-", "number"],
			["waited for a slot", t => percent(t.saturated_seconds.slot / s.seconds), "number"],
			["oldest call", t => t.oldest_seconds ? duration(t.oldest_seconds) : "-", "number"],
		], list)];
	}

	function serverCard(server) {
		const mounts = server.mounts.map(m => `${m.mountpoint} (${m.export}, NFS ${m.version})`).join("; ");
		return card(make("h2", {}, server.name), verdict(server), ...(mounts ? [make("p", { class: "quiet" }, mounts)] : []),
			numbers(server), ...timeline(server), ...heatmap(server), ...ops(server), ...transports(server));
	}

	const sections = [
		[s.episodes, "Checkpoint episodes", [
			["start", e => clock(e.start)], ["kind", e => e.kind], ["server", e => e.server],
			["seconds", e => e.seconds.toFixed(1), "number"], ["bytes", e => bytes(e.bytes), "number"],
			["mean rate", e => bytes(e.mean_rate) + "/s", "number"], ["peak rate", e => bytes(e.peak_rate) + "/s", "number"],
			["bound by", e => e.bound_by], ["phases", e => bar(e.shares, 1)],
		]],
		[s.events, "Faults and events", [
			["time", e => clock(e.time)], ["kind", e => e.kind.replace("_", " ")], ["what", e => e.text, "wrap"],
		]],
		[s.slow_calls, "Slowest calls", [
			["end", c => clock(c.end)], ["took", c => duration(c.seconds), "number"], ["op", c => c.op],
			["process", c => `${c.comm || "?"} (${c.pid})`], ["server", c => c.server], ["mount", c => c.mount || "not known"],
			["phases", c => bar(c.phases, c.seconds)],
		]],
	];

	const main = document.getElementById("main");
	document.getElementById("session").textContent =
		`${new Date(s.start * 1000).toLocaleString("en-GB")}, ${duration(s.seconds)}, source ${s.source}` +
		(s.not_observed ? `; not observed: ${s.not_observed}` : "");
	for (const server of s.servers)
		main.append(serverCard(server));
	if (!s.servers.length)
		main.append(card(make("h2", {}, "No NFS server"), make("p", {}, "No call was seen, or a filter leaves the servers out.")));
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
