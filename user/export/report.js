'use strict';
/* The report's page: data in, DOM out. Values reach the page through textContent alone. */
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const place = id => document.getElementById(id);

/* -- text -- */

/* What is not seen, or changes the order of what stands beside it, is shown by its number. */
const hiddenCharacters = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const clean = text => String(text).replace(hiddenCharacters,
	c => '\\x' + c.charCodeAt(0).toString(16).padStart(2, '0'));

/* An element with attributes and children; strings become text. */
function el(tag, attributes, ...children) {
	const node = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes || {}))
		node.setAttribute(key, value);
	for (const child of children)
		if (child !== null && child !== undefined)
			node.append(child instanceof Node ? child : document.createTextNode(clean(child)));
	return node;
}

const count = n => Number(n).toLocaleString('en-US');
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

/* Microseconds as "11.9ms", "10.0s", "3m20s"; nothing for what was not measured. */
function dur(us) {
	if (us === undefined || us === null)
		return '';
	for (const [limit, unit, size] of [[1e3, 'us', 1], [1e6, 'ms', 1e3], [6e7, 's', 1e6]])
		if (us < limit * 0.9995)
			return (us / size).toFixed(us / size < 9.95 && size > 1 ? 1 : 0) + unit;
	const s = Math.round(us / 1e6);
	return s < 3600 ? `${Math.floor(s / 60)}m${String(s % 60).padStart(2, '0')}s` :
		`${Math.floor(s / 3600)}h${String(Math.floor(s / 60) % 60).padStart(2, '0')}m`;
}

const iso = ms => new Date(ms).toISOString();
const clock = ms => iso(ms).slice(11, 19);
const clockFine = ms => iso(ms).slice(11, 23);
const day = ms => iso(ms).slice(0, 10);
const sameDay = day(data.from) === day(data.to);
const when = ms => sameDay ? clock(ms) : `${day(ms)} ${clock(ms)}`;
const percent = share => share < 0.01 ? '<1%' : `${Math.round(share * 100)}%`;
const words = name => name.replaceAll('_', ' ');

/* -- tables -- */

/* Columns: {title, get(row), number, kind}. The first heads its row; an empty one is left out. */
function table(caption, all, rows) {
	const columns = all.filter((c, i) => !i || rows.some(row => c.get(row) !== ''));
	const head = el('tr', {}, ...columns.map(c => el('th', { scope: 'col', class: c.number ? 'n' : '' }, c.title)));
	const body = rows.map(row => el('tr', {}, ...columns.map((c, i) => {
		const attributes = { class: c.number ? 'n' : c.kind || 't' };
		return i ? el('td', attributes, c.get(row)) : el('th', { scope: 'row', ...attributes }, c.get(row));
	})));
	const t = el('table', { 'aria-label': caption }, el('thead', {}, head), el('tbody', {}, ...body));
	return el('div', {}, el('p', { class: 'caption' }, caption), el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption }, t));
}

/* Open on paper, unless a chart says the same. */
const fold = (title, ...content) => el('details', { class: 'paper' }, el('summary', {}, title), ...content);
const foldOfChart = (...content) => el('details', { class: 'screen' }, el('summary', {}, 'The same as a table'), ...content);
const show = (id, visible) => { place(id).hidden = !visible; };

/* -- charts -- */

const palettes = {
	light: {
		ink: '#1b2430', quiet: '#5a6675', grid: '#e3e7ec', ground: '#ffffff',
		outcomes: { ready: '#2476b5', gave_up: '#e08a00', failed: '#c8321f', closed: '#8a94a0', cancel: '#9a55b8', killed: '#15191f' },
		phases: { queue: '#6fb7e0', fork: '#7d8894', child: '#b4bcc5', hostname: '#d8531b', startup: '#2a9d72', join: '#5c63b8', auth: '#1763a6', prepare: '#d6b021', login: '#b8609f' },
	},
	dark: {
		ink: '#e6eaf0', quiet: '#9aa6b5', grid: '#2d3641', ground: '#1b212a',
		outcomes: { ready: '#5fa8e6', gave_up: '#f2ab3c', failed: '#ff7161', closed: '#8d98a6', cancel: '#c58ae0', killed: '#f4f6f8' },
		phases: { queue: '#8fcdf0', fork: '#8b96a3', child: '#5f6a77', hostname: '#ff7d45', startup: '#48c394', join: '#8e94e8', auth: '#4c9ce0', prepare: '#e8c84a', login: '#dd8fc6' },
	},
};
const shapes = { ready: 'circle', gave_up: 'triangle', failed: 'crossRot', closed: 'rect', cancel: 'rectRot', killed: 'star' };
const charts = [];
const wantsDark = window.matchMedia('(prefers-color-scheme: dark)');

/* A chart in parent; config(palette) is called again whenever the colours change. */
function chart(parent, label, config, height) {
	const canvas = el('canvas', { role: 'img', 'aria-label': label });
	const box = el('div', { class: 'chart' }, canvas);
	if (height)
		box.style.height = height + 'px';
	parent.append(box);
	const entry = { canvas, config, height, now: null };
	charts.push(entry);
	return entry;
}

function draw(entry, palette) {
	if (entry.now)
		entry.now.destroy();
	Chart.defaults.color = palette.quiet;
	Chart.defaults.borderColor = palette.grid;
	entry.now = new Chart(entry.canvas, entry.config(palette));
}

function drawAll(name) {
	for (const entry of charts)
		draw(entry, palettes[name]);
}

const drawForScreen = () => drawAll(wantsDark.matches ? 'dark' : 'light');

/* On paper: light colours, and the width of a page. */
function drawForPaper() {
	drawAll('light');
	for (const entry of charts)
		entry.now.resize(660, entry.height || 260);
	for (const details of document.querySelectorAll('details.paper'))
		details.dataset.open = details.open, details.open = true;
}

function leavePaper() {
	for (const details of document.querySelectorAll('details.paper'))
		details.open = details.dataset.open === 'true';
	drawForScreen();
}

const axisTitle = text => ({ display: true, text });

function options(extra) {
	return {
		responsive: true, maintainAspectRatio: false, animation: false, normalized: true,
		interaction: { mode: 'nearest', intersect: false },
		...extra,
		plugins: { legend: { labels: { usePointStyle: true, boxWidth: 8, boxHeight: 8 } }, ...extra.plugins },
	};
}

/* Ticks at times that people use. */
const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400, 604800].map(s => s * 1000);

function timeAxis(width) {
	const step = span => timeSteps.find(s => span / s <= Math.max(3, width / 90)) || timeSteps.at(-1);
	return {
		type: 'linear', min: data.from, max: Math.max(data.to, data.from + 1000),
		title: axisTitle('time (UTC)'),
		afterBuildTicks: axis => {
			const by = step(axis.max - axis.min);
			axis.ticks = [];
			for (let t = Math.ceil(axis.min / by) * by; t <= axis.max; t += by)
				axis.ticks.push({ value: t });
		},
		ticks: { callback: value => clock(value), maxRotation: 0, autoSkip: true },
	};
}

function durationAxis(title, values) {
	const [least, most] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, 1]);
	return {
		type: 'logarithmic', title: axisTitle(title),
		min: 10 ** Math.floor(Math.log10(least)), max: 10 ** Math.ceil(Math.log10(most * 1.01)),
		afterBuildTicks: axis => { /* each power of ten */
			axis.ticks = [];
			for (let value = axis.min; value <= axis.max * 1.01; value *= 10)
				axis.ticks.push({ value });
		},
		ticks: { autoSkip: false, callback: dur },
	};
}

/* -- marks: what happened to the server, as lines through a chart over time -- */

const marks = [
	...data.changes.map(c => ({
		at: c.at,
		text: c.log_hostname === undefined ? 'log_line_prefix' : `log_hostname ${c.log_hostname ? 'on' : 'off'}`,
	})),
	...data.triggers.map(t => ({ at: t.at, text: t.condition })),
];

/* x(chart, ms) is where a time stands in that chart. */
const marksPlugin = (palette, x) => ({
	id: 'marks',
	afterDatasetsDraw(c) {
		const g = c.ctx, area = c.chartArea;
		g.save();
		g.strokeStyle = palette.ink;
		g.setLineDash([4, 3]);
		g.font = '11px system-ui, sans-serif';
		marks.forEach((mark, i) => {
			const left = x(c, mark.at);
			if (left < area.left || left > area.right)
				return;
			g.beginPath();
			g.moveTo(left, area.top);
			g.lineTo(left, area.bottom);
			g.stroke();
			if (c.width < 500) /* text would hide what it explains; the server's section has it */
				return;
			const text = clean(mark.text), width = g.measureText(text).width, top = area.top + 2 + i % 4 * 15;
			const from = left > (area.left + area.right) / 2 ? left - 6 - width : left + 6;
			g.fillStyle = palette.ground + 'd0';
			g.fillRect(from - 2, top, width + 4, 14);
			g.fillStyle = palette.ink;
			g.fillText(text, from, top + 11);
		});
		g.restore();
	},
});

/* -- the head -- */

const session = data.sessions[0] || { host: '', port: 0, server_version: '' };

function serverName() {
	if (data.sessions.length > 1 && new Set(data.sessions.map(s => `${s.host}:${s.port}`)).size > 1)
		return `${data.sessions.length} servers`;
	return [session.host, session.cluster_name].filter(Boolean).join(' ') + ` port ${session.port}`;
}

function note(text, warns) {
	place('notes').append(el('p', { class: warns ? 'note warn' : 'note' }, text));
}

function writeNotes() {
	const c = data.counts, filters = [...new Set(data.sessions.map(s => s.filter).filter(Boolean))];
	const missing = [...new Set(data.sessions.flatMap(s => s.missing_phases))];
	if (!data.complete)
		note('The trace has no end: it was cut off. What follows is what it holds.', true);
	if (c.lost)
		note(`${plural(c.lost, 'connection', 'connections')} could not be told (lost): counted, but in no chart and no percentile.`, true);
	for (const filter of filters)
		note(`The trace was filtered: ${filter}. What did not match is not in it.`, true);
	if (data.no_percentiles)
		note('It holds slow connections only, so percentiles are left out: they would be those of the slow ones.', true);
	if (missing.length)
		note(`This server’s build does not show ${missing.join(', ')}: that time stands in the phase before.`);
	if (data.hidden.length)
		note(`Pseudonyms stand in place of: ${data.hidden.join(', ')}. The same value has the same pseudonym in every report of this trace.`);
}

/* As the server's log has it; a zone that this browser does not know is left out. */
function serverTime() {
	if (!session.time_zone || /^(Etc\/)?UTC$/.test(session.time_zone))
		return '';
	try {
		const format = new Intl.DateTimeFormat('en-GB', { timeZone: session.time_zone, timeStyle: 'medium', dateStyle: 'medium' });
		return `; by the server’s log ${format.formatRange(data.from, data.to)} ${session.time_zone}`;
	} catch {
		return '';
	}
}

function writeHead() {
	const title = `${serverName()}, ${day(data.from)}`;
	place('title').textContent = clean(title);
	document.title = clean(`PostgreSQL connections: ${title}`);
	place('span').textContent = clean(`${when(data.from)} to ${when(data.to)} UTC (${dur((data.to - data.from) * 1000)})${serverTime()}. PostgreSQL ${session.server_version}.`);
	writeNotes();
}

/* -- impact -- */

const metric = name => data.metrics.find(m => m.name === name);
const wait = metric('wait') || metric('total');
const waitedLonger = ms => data.waited.find(w => w.ms === ms).count;

function impactWords() {
	const c = data.counts;
	if (!c.connections)
		return 'No connection was seen. That is not the same as health: see the accept queue below.';
	const said = [`${plural(c.connections, 'connection', 'connections')} came in ${dur((data.to - data.from) * 1000)}.`];
	said.push(`${count(waitedLonger(1000))} of them waited 1s or longer` +
		(waitedLonger(5000) ? `, ${count(waitedLonger(5000))} of those 5s or longer.` : '.'));
	if (c.gave_up)
		said.push(`${plural(c.gave_up, 'client', 'clients')} gave up` +
			(data.gave_up_after.count && !data.no_percentiles ? `, half of them within ${dur(data.gave_up_after.p50)} of being accepted.` : '.'));
	if (c.failed)
		said.push(`${plural(c.failed, 'connection', 'connections')} failed.`);
	if (wait)
		said.push(`The longest wait was ${dur(wait.max)}.`);
	if (c.in_setup)
		said.push(`${count(c.in_setup)} ${c.in_setup === 1 ? 'was' : 'were'} still in setup when the trace ended.`);
	return said.join(' ');
}

function tile(title, value, bad) {
	place('tiles').append(el('div', bad ? { class: 'bad' } : {}, el('dt', {}, title), el('dd', {}, value)));
}

function writeImpact() {
	const c = data.counts;
	place('impact-words').textContent = impactWords();
	tile('connections', count(c.connections));
	tile('ready', count(c.ready));
	tile('waited 1s or longer', count(waitedLonger(1000)), waitedLonger(1000));
	tile('gave up', count(c.gave_up), c.gave_up);
	tile('failed', count(c.failed), c.failed);
	if (wait) {
		if (!data.no_percentiles)
			tile('median wait', dur(wait.p50));
		tile('longest wait', dur(wait.max), wait.max >= 1e6);
	}
	if (data.again)
		place('again').append(el('h3', {}, 'See it again, on the server'), el('pre', {}, data.again));
}

function writeFindings() {
	for (const f of data.findings)
		place('findings').append(el('div', { class: 'finding' }, el('h3', {}, f.title), el('p', {}, f.text),
			f.advice ? el('pre', {}, ...f.advice.split('\n').flatMap((line, i) => i ? [el('br'), line] : [line])) : null));
	show('verdict', data.findings.length);
}

/* -- every connection -- */

function dotsConfig(palette) {
	const byOutcome = data.outcome_names.map(() => []);
	for (const [at, us, outcome] of data.dots.list)
		byOutcome[outcome].push({ x: at, y: Math.max(us, 1) });
	const few = data.dots.list.length < 500;
	const datasets = data.outcome_names.map((name, i) => ({
		label: words(name), data: byOutcome[i], pointStyle: shapes[name],
		pointRadius: (few ? 4 : 2.5) + (name === 'ready' ? 0 : 1.5), pointHoverRadius: 7,
		borderColor: palette.outcomes[name], backgroundColor: palette.outcomes[name] + '99',
		order: name === 'ready' ? 1 : 0,
	})).filter(d => d.data.length);
	return {
		type: 'scatter', data: { datasets },
		options: options({
			scales: { x: timeAxis(place('dots').clientWidth), y: durationAxis('wait, log scale', data.dots.list.map(d => Math.max(d[1], 1))) },
			plugins: { tooltip: { callbacks: { label: p => `${clockFine(p.raw.x)}  ${dur(p.raw.y)}  ${p.dataset.label}` } } },
		}),
		plugins: [marksPlugin(palette, (c, ms) => c.scales.x.getPixelForValue(ms))],
	};
}

function writeDots() {
	const of = data.dots.of, drawn = data.dots.list.length;
	show('dots-s', drawn);
	if (!drawn)
		return;
	place('dots').append(el('p', { class: 'quiet small' }, 'Each dot is a connection: when it was accepted and how long its client waited. ' +
		(of > drawn ? `${count(drawn)} of ${count(of)} are drawn, a random sample in which each has the same chance; rare ones may be missing here, never in the figures.` : `All ${count(of)} are drawn.`)));
	chart(place('dots'), `Scatter chart of ${count(drawn)} connections over time by wait. ${impactWords()}`, dotsConfig);
}

/* -- over time -- */

const slots = data.timeline.slots;
const slotTime = i => data.timeline.base + i * data.timeline.width;
const slotLabels = slots.map((_, i) => when(slotTime(i)));
const slotConnections = slot => slot.outcomes.reduce((a, b) => a + b, 0);
const slotWidth = dur(data.timeline.width * 1000).replace('.0s', 's');

const slotX = (c, ms) => {
	const scale = c.scales.x, i = (ms - data.timeline.base) / data.timeline.width - 0.5;
	return scale.getPixelForValue(0) + i * (scale.getPixelForValue(1) - scale.getPixelForValue(0));
};

function overTime(type, palette, datasets, yTitle, format, stacked) {
	return {
		type, data: { labels: slotLabels, datasets },
		options: options({
			interaction: { mode: 'index', intersect: false },
			scales: {
				x: { stacked, title: axisTitle('time (UTC)'), ticks: { maxRotation: 0, autoSkipPadding: 16 }, grid: { display: false } },
				y: { stacked, beginAtZero: true, title: axisTitle(yTitle), ticks: { callback: format, precision: 0 } },
			},
			plugins: { tooltip: { filter: p => p.raw, callbacks: { label: p => `${p.dataset.label}: ${format(p.raw)}` } } },
		}),
		plugins: slots.length > 1 ? [marksPlugin(palette, slotX)] : [],
	};
}

const bar = (label, values, colour) => ({
	label, data: values, backgroundColor: colour, pointStyle: 'rect', barPercentage: 1, categoryPercentage: 0.95,
});

function phasesConfig(palette) {
	const datasets = data.phase_names.map((name, p) => bar(name, slots.map(s => {
		const n = slotConnections(s);
		return n ? s.phases[p] / n : 0;
	}), palette.phases[name])).filter(d => d.data.some(v => v));
	return overTime('bar', palette, datasets, 'mean wait of a connection', dur, true);
}

function rateConfig(palette) {
	const datasets = data.outcome_names.map((name, o) => bar(words(name), slots.map(s => s.outcomes[o]), palette.outcomes[name]))
		.filter(d => d.data.some(v => v));
	return overTime('bar', palette, datasets, `connections per ${slotWidth}`, count, true);
}

function gaugesConfig(palette) {
	const line = (label, key, colour) => ({
		label, data: slots.map(s => s[key] ?? null), borderColor: colour, backgroundColor: colour,
		spanGaps: true, pointRadius: 2, borderWidth: 2, tension: 0, pointStyle: 'line',
	});
	const datasets = [line('in setup', 'in_setup', palette.phases.hostname), line('accept queue', 'accept_queue', palette.phases.queue)]
		.filter(d => d.data.some(v => v !== null));
	return overTime('line', palette, datasets, 'connections', count, false);
}

function slotTable(caption, names, value) {
	const used = names.map((name, i) => ({ name, i })).filter(({ i }) => slots.some(s => value(s, i)));
	const columns = [{ title: 'from (UTC)', get: r => slotLabels[r.at], kind: 'c' },
		...used.map(({ name, i }) => ({ title: words(name), get: r => value(r.slot, i) || '', number: true }))];
	const rows = slots.map((slot, at) => ({ slot, at })).filter(r => slotConnections(r.slot));
	return foldOfChart(table(caption, columns, rows));
}

function writeOverTime() {
	const any = slots.some(slotConnections), gauges = slots.some(s => s.in_setup !== undefined);
	show('phases-s', any);
	show('rate-s', any);
	show('gauges-s', gauges);
	if (any) {
		place('phases').append(el('p', { class: 'quiet small' }, `The mean connection of every ${slotWidth}, by the phase it waited in. Connections stand where they were accepted.`));
		chart(place('phases'), `Stacked bars over time: mean wait of a connection by phase. ${shareWords()}`, phasesConfig);
		place('phases').append(slotTable(`Mean time in each phase, every ${slotWidth}`, data.phase_names,
			(s, p) => s.phases[p] ? dur(s.phases[p] / slotConnections(s)) : ''));
		chart(place('rate'), `Stacked bars over time: connections by outcome, every ${slotWidth}.`, rateConfig);
		place('rate').append(slotTable(`Connections by outcome, every ${slotWidth}`, data.outcome_names, (s, o) => s.outcomes[o]));
	}
	if (gauges)
		chart(place('gauges'), 'Lines over time: connections in setup, and in the accept queue.', gaugesConfig);
}

/* -- how long each phase takes -- */

function shareWords() {
	const most = data.metrics.filter(m => m.phase && m.share !== undefined).sort((a, b) => b.share - a.share)[0];
	return most ? `Most of the time, ${percent(most.share)}, went to ${most.name}.` : '';
}

let spreadOf = null;

const bandFrom = i => i ? 2 ** (data.band_bits + i - 1) / 1000 : 0;
const bandTo = i => 2 ** (data.band_bits + i) / 1000;

function spreadConfig(palette) {
	const m = spreadOf;
	const used = m.bands.map((n, i) => n ? i : -1).filter(i => i >= 0);
	const first = Math.max(0, used[0] - 1), last = Math.min(m.bands.length - 1, used.at(-1) + 1);
	const bands = m.bands.slice(first, last + 1);
	const wide = Math.max(...bands) > 50 * Math.min(...bands.filter(Boolean));
	return {
		type: 'bar',
		data: { labels: bands.map((_, i) => dur(bandFrom(first + i))), datasets: [bar(m.name, bands, palette.phases[m.name] || palette.phases.auth)] },
		options: options({
			scales: {
				x: { title: axisTitle('from, each bar up to twice as long'), grid: { display: false }, ticks: { maxRotation: 50 } },
				y: wide ? { type: 'logarithmic', min: 0.5, title: axisTitle('connections, log scale'), ticks: { callback: n => Number.isInteger(Math.log10(n)) ? count(n) : null } } :
					{ beginAtZero: true, title: axisTitle('connections'), ticks: { precision: 0 } },
			},
			plugins: {
				legend: { display: false },
				tooltip: { callbacks: {
					title: p => `${dur(bandFrom(first + p[0].dataIndex))} to ${dur(bandTo(first + p[0].dataIndex))}`,
					label: p => plural(p.raw, 'connection', 'connections'),
				} },
			},
		}),
	};
}

const percentileColumns = data.no_percentiles ? [] : ['p50', 'p90', 'p99'].map(p => ({ title: p, get: r => dur(r[p]), number: true }));
const maxColumn = { title: 'max', get: r => dur(r.max), number: true };

function writeSpread() {
	show('spread-s', data.metrics.length);
	if (!data.metrics.length)
		return;
	const phases = data.metrics.filter(m => m.phase && m.share !== undefined);
	spreadOf = phases.sort((a, b) => b.share - a.share)[0] || data.metrics[0];
	const pick = el('select', { id: 'pick' }, ...data.metrics.map(m => el('option', { value: m.name, ...(m === spreadOf ? { selected: '' } : {}) }, m.name)));
	place('spread').append(el('p', { class: 'screen' }, el('label', { for: 'pick' }, 'Distribution of '), pick));
	const entry = chart(place('spread'), 'Histogram of durations, doubling from bar to bar; the table below has its percentiles.', spreadConfig);
	pick.addEventListener('change', () => {
		spreadOf = metric(pick.value);
		draw(entry, palettes[wantsDark.matches ? 'dark' : 'light']);
	});
	place('spread').append(table('wait is what the client feels: queue and total. Phases add up to total; dns is the lookups wherever they happened.', [
		{ title: 'phase', get: m => m.name, kind: 'c' }, { title: 'count', get: m => count(m.count), number: true }, ...percentileColumns, maxColumn,
		{ title: 'share of total', get: m => m.share === undefined ? '' : percent(m.share), number: true }], data.metrics));
}

/* -- single connections -- */

const login = c => c.user === undefined ? '' : `${c.user}@${c.database}`;
const questionWords = l => l.questions ? ` (${l.questions.map(q => `${q.nameserver}: ${q.rcode || 'no answer'}`).join(', ')})` : '';
const lookupWords = (l, c) => `${l.by} ${l.kind}${l.kind === 'forward' ? ' ' + l.name : l.address === c.client ? '' : ' ' + l.address}: ${l.result}${l.code ? ' ' + l.code : ''}${l.name && l.kind === 'reverse' ? ' ' + l.name : ''}, ${dur(l.dur)}${questionWords(l)}`;
const slowestPhase = c => {
	const p = c.phases.indexOf(Math.max(...c.phases));
	return p < 0 ? '' : `${data.phase_names[p]} ${dur(c.phases[p])}`;
};

function waterfallConfig(palette) {
	const short = text => text.length > 26 ? text.slice(0, 25) + '…' : text;
	const datasets = data.phase_names.map((name, p) => ({ ...bar(name, data.slowest.map(c => c.phases[p] || 0), palette.phases[name]), categoryPercentage: 0.85 }))
		.filter(d => d.data.some(v => v));
	return {
		type: 'bar',
		data: { labels: data.slowest.map(c => short(clean(`${clock(c.at)} ${c.client || ''}`))), datasets },
		options: options({
			indexAxis: 'y', interaction: { mode: 'index', axis: 'y', intersect: false },
			scales: {
				x: { stacked: true, position: 'top', beginAtZero: true, ticks: { callback: dur, maxRotation: 0 } },
				y: { stacked: true, grid: { display: false }, ticks: { autoSkip: false, font: { size: 11 } } },
			},
			plugins: { tooltip: { filter: p => p.raw, callbacks: {
				title: p => clean(`${data.slowest[p[0].dataIndex].pid}  ${login(data.slowest[p[0].dataIndex])}  ${words(data.slowest[p[0].dataIndex].outcome)}`),
				label: p => `${p.dataset.label}: ${dur(p.raw)}`,
			} } },
		}),
	};
}

const connColumns = [
	{ title: 'accepted (UTC)', get: c => c.at ? clockFine(c.at) : '', kind: 'c' }, { title: 'wait', get: c => dur(c.wait ?? c.age), number: true },
	{ title: 'outcome', get: c => c.outcome ? words(c.outcome) + (c.outcome === 'ready' ? '' : ` in ${c.phase}`) : `in ${c.phase}`, kind: 'c' },
	{ title: 'SQLSTATE', get: c => c.sqlstate, kind: 'c' },
	{ title: 'most in', get: slowestPhase, kind: 'c' }, { title: 'client', get: c => c.client || '', kind: 'c' }, { title: 'user@database', get: login },
	{ title: 'application', get: c => c.application || '' }, { title: 'pid', get: c => c.pid, number: true },
	{ title: 'lookups', get: c => c.lookups.map(l => lookupWords(l, c)).join('; ') + (c.lookup_count > c.lookups.length ? `; ${c.lookup_count - c.lookups.length} more` : '') },
];

function writeSlowest() {
	const n = data.slowest.length;
	show('slowest-s', n);
	if (!n)
		return;
	place('slowest').append(el('p', { class: 'quiet small' }, `The ${n === 1 ? 'one' : count(n)} that waited longest, from the handshake on, phase by phase.`));
	chart(place('slowest'), `Waterfall of the ${n} slowest connections by phase; the table below has them in words.`, waterfallConfig, 90 + n * 16);
	place('slowest').append(fold('The same in words', table('Slowest connections', connColumns, data.slowest)));
}

function writeSetup() {
	const of = data.in_setup_count, shown = data.in_setup.length;
	show('setup-s', of);
	if (of)
		place('setup').append(table(of > shown ? `${count(shown)} of ${count(of)}, oldest first` : `${count(of)}, oldest first`,
			connColumns, data.in_setup));
}

/* -- tables by key -- */

const names = new Map((data.names || []).map(n => [n.address, n]));

function keyColumns(key) {
	const outcomes = data.outcome_names.filter(o => data.counts[o]);
	const columns = [{ title: key, get: r => r.value === '' ? '(not known)' : r.value, kind: key === 'client' || key === 'network' ? 'c' : 't' }];
	if (key === 'client' && data.names)
		columns.push({ title: 'name now', get: r => (names.get(r.value) || {}).name || '' },
			{ title: 'leads back', get: r => (names.get(r.value) || {}).state || '', kind: 'c' });
	columns.push({ title: 'connections', get: r => count(r.connections), number: true },
		...outcomes.map(o => ({ title: words(o), get: r => r[o] ? count(r[o]) : '', number: true })),
		...percentileColumns.map(c => ({ ...c, title: `${c.title} wait` })), { ...maxColumn, title: 'max wait' },
		{ title: 'waited in all', get: r => dur(r.waited), number: true }, { title: 'of it in dns', get: r => r.dns ? dur(r.dns) : '', number: true });
	return columns;
}

function writeWho() {
	show('who-s', data.tables.some(t => t.rows.length));
	if (data.names)
		place('who').append(el('p', { class: 'note' }, `Names were asked for when this page was made (${iso(data.made).slice(0, 19).replace('T', ' ')} UTC), not when the clients connected. ` +
			'The owner of an address’s reverse zone can write any name there: only one that leads back to the address is verified, and even that says who runs the name, not who the client is.'));
	data.tables.forEach((t, i) => {
		if (!t.rows.length)
			return;
		const shown = table(t.of > t.rows.length ? `By ${t.key}: the ${t.rows.length} of ${count(t.of)} that waited most` : `By ${t.key}, most waited for first`, keyColumns(t.key), t.rows);
		place('who').append(i ? fold(`By ${t.key} (${count(t.of)})`, shown) : shown);
	});
}

function writeFailures() {
	show('fail-s', data.failures.length);
	if (data.failures.length)
		place('fail').append(table('Connections that did not become ready, by SQLSTATE', [
			{ title: 'SQLSTATE', get: f => f.sqlstate || 'none told' }, { title: 'outcome', get: f => words(f.outcome), kind: 'c' },
			{ title: 'connections', get: f => count(f.count), number: true }], data.failures));
}

function writeLookups() {
	show('lookups-s', data.lookups.length || data.nameservers.length);
	if (data.nameservers.length)
		place('lookups').append(table('By nameserver, from DNS packets; whoever in the server’s network namespace asked', [
			{ title: 'nameserver', get: s => s.address, kind: 'c' }, { title: 'questions', get: s => count(s.queries), number: true },
			{ title: 'answers', get: s => count(s.answers), number: true }, { title: 'unanswered', get: s => count(s.unanswered), number: true },
			{ title: 'asked again', get: s => count(s.retries), number: true }, { title: 'p50', get: s => dur(s.p50), number: true },
			{ title: 'p99', get: s => dur(s.p99), number: true }, maxColumn], data.nameservers));
	if (data.lookups.length)
		place('lookups').append(table('Who asked, and what came back', [
		{ title: 'asked by', get: l => l.by, kind: 'c' }, { title: 'kind', get: l => l.kind, kind: 'c' },
		{ title: 'result', get: l => l.result + (l.code ? ` ${l.code}` : ''), kind: 'c' }, { title: 'lookups', get: l => count(l.count), number: true },
		...percentileColumns, maxColumn], data.lookups));
	if (data.addresses.length)
		place('lookups').append(fold(`By address (${count(data.addresses_of)})`, table('Reverse lookups by address, most time first', [
			{ title: 'address', get: a => a.address || '(other)', kind: 'c' }, { title: 'lookups', get: a => count(a.lookups), number: true },
			{ title: 'failed', get: a => a.failed ? count(a.failed) : '', number: true },
			{ title: 'logged as ???', get: a => a.unnamed ? count(a.unnamed) : '', number: true },
			{ title: 'time in all', get: a => dur(a.sum), number: true }, maxColumn], data.addresses)));
}

/* -- the server -- */

function facts(s) {
	const r = s.resolver, list = [
		['host', [s.host, s.container && `container ${s.container}`].filter(Boolean).join(', ')],
		['PostgreSQL', `${s.server_version}, port ${s.port}, postmaster ${s.postmaster}`],
		['cluster name', s.cluster_name], ['data directory', s.data_directory],
		['log_timezone', s.time_zone], ['kernel', s.kernel], ['traced by', s.tool],
		['log_hostname', s.log_hostname === undefined ? 'could not be read' : s.log_hostname ? 'on' : 'off'],
		['log_line_prefix', s.log_line_prefix],
	];
	if (r)
		list.push(['hosts (nsswitch)', r.hosts.join(' ')], ['nameservers', r.nameservers.join(' ')],
			['resolver options', `timeout ${r.timeout_s}s, ${plural(r.attempts, 'attempt', 'attempts')}, ${r.libc}`]);
	return el('dl', { class: 'facts' }, ...list.filter(([, v]) => v !== '' && v !== undefined).flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v)]));
}

const changeWords = c => [
	c.log_hostname === undefined ? null : `log_hostname = ${c.log_hostname ? 'on' : 'off'}`,
	c.log_line_prefix === undefined ? null : `log_line_prefix = '${c.log_line_prefix}'`,
].filter(Boolean).join(', ');

function writeServer() {
	data.sessions.forEach((s, i) => {
		if (i)
			place('server').append(el('h3', {}, `From ${when(s.at)} UTC`));
		place('server').append(facts(s));
	});
	const events = [...data.changes.map(c => ({ at: c.at, text: `settings reloaded: ${changeWords(c)}` })),
		...data.triggers.map(t => ({ at: t.at, text: `triggered by ${t.condition}, at ${t.value}` }))].sort((a, b) => a.at - b.at);
	if (events.length)
		place('server').append(el('h3', {}, 'What changed meanwhile'), table('Changes and triggers', [
			{ title: 'time (UTC)', get: e => when(e.at), kind: 'c' }, { title: 'what', get: e => e.text }], events));
	place('footer').textContent = clean(`Made ${iso(data.made).slice(0, 19).replace('T', ' ')} UTC by ${data.tool}${data.file ? ` from ${data.file}` : ''}. ` +
		'This page holds all it shows and loads nothing from the network. Durations: percentiles are exact to within 3.2%, counts and maxima are exact.');
}

/* -- all together -- */

for (const write of [writeHead, writeImpact, writeFindings, writeDots, writeOverTime, writeSpread, writeSlowest, writeSetup, writeWho, writeFailures, writeLookups, writeServer])
	write();
Chart.defaults.font.family = 'system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';
drawForScreen();
wantsDark.addEventListener('change', drawForScreen);
window.addEventListener('beforeprint', drawForPaper);
window.addEventListener('afterprint', leavePaper);
document.documentElement.dataset.ready = 'true'; /* for whoever waits for the page */
})();
