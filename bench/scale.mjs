// Ten million rows, or as many as --rows says, against the bench's server: does anything grow that must not?
//
//   npm run --silent build && node bench/scale.mjs [--rows 10000000] [--undo] [--folder DIR]
//
// It tells of each tenth of the rows: memory of the client, CPU of a row, bytes of records, seconds of `runs list` beside the
// run. At nine tenths it kills the run with SIGKILL and resumes it. At the end each row must have been written exactly once by
// the count of the server, besides those that were in flight at the kill, and the record must count each as done. It prints
// JSON lines while it goes on, and two tables at its end. Where a goal is not reached or not measured, it exits with 1. A row
// takes about 0.4 kB of the folder, with --undo more. With --folder, what the program recorded stays there.
import process from "node:process";
import { parseArgs } from "node:util";
import { holds, TABLE_HEAD, tableOf, tableRow, verdictText } from "./goals.mjs";
import { machineText } from "./machine.mjs";
import { IN_FLIGHT } from "./measures/growth.mjs";
import { sample } from "./watch.mjs";
import { round, World } from "./world.mjs";

const { values } = parseArgs({
	options: {
		rows: { type: "string", default: "10000000" },
		undo: { type: "boolean", default: false },
		folder: { type: "string" },
	},
});
const rows = Number(values.rows);
if (!Number.isInteger(rows) || rows < 1000) {
	console.error("--rows is a number from 1000");
	process.exit(2);
}
const flags = ["--rate", "unlimited", ...(values.undo ? [] : ["--no-undo"])];

/** Milliseconds between two looks at the run: a second, or less where so few rows take few seconds. */
const EVERY = Math.min(1_000, rows / 1_000);

/** Milliseconds without a further row, after which the run counts as stuck: the check of ten million rows takes two minutes. */
const STUCK = 15 * 60_000;

/** The share of the rows at which the run is killed. */
const KILLED_AT = 0.9;

/** A column of the table. */
const LIST_SECONDS = "`runs list`, seconds";

const pause = () => new Promise((resolve) => setTimeout(resolve, EVERY));
const numberText = (value) => value.toLocaleString("en");
const tenths = [];
const facts = [];

const world = await World.open(values.folder);
try {
	console.log(`${numberText(rows)} rows, docs tag ${flags.join(" ")}: ${await machineText()}`);
	const server = await world.server(rows);
	const seconds = await untilKill(server);
	await resumed(server, seconds);
	const slowest = Math.max(...tenths.flatMap(({ [LIST_SECONDS]: each }) => each ?? []));
	told("runs list beside the run, seconds at most", rounded(slowest, 2), "< 1");
	const { never, once, oftener } = await server.counts();
	told("rows that were written exactly once", once);
	told("rows that were written twice: in flight at the kill", oftener, `<= ${IN_FLIGHT}`);
	told("rows that were never written", never, "<= 0");
	const { run } = await toldOfList("after the end", server);
	told("rows that the record counts as done", run?.done, `>= ${rows}`);
} finally {
	console.log(`\n${tableOf(tenths)}\n\n${[TABLE_HEAD, ...facts.map(tableRow)].join("\n")}\n\n${verdictText(facts)}`);
	await world.close(values.folder !== undefined);
}
if (facts.some(({ figure, goal }) => goal !== undefined && holds(figure, goal) !== true)) process.exitCode = 1;

function told(name, figure, goal) {
	facts.push({ name, figure, goal });
	console.log(JSON.stringify({ name, figure: figure ?? null }));
}

/** @returns the seconds that the run took until it was killed */
async function untilKill(server) {
	const started = performance.now();
	const run = await world.startTag(server, rows, flags, { state: "scale" });
	const lists = await follow(run, server, rows * KILLED_AT);
	const seconds = (performance.now() - started) / 1000;
	run.kill();
	// A run that failed says so here.
	if ((await run.ended) !== null) throw new Error("the run ended before it was killed: take more --rows");
	await Promise.all(lists);
	const { updates } = await server.counts();
	told("rows written when it was killed", updates);
	told("seconds until then", round(seconds, 0));
	await toldOfList("after the kill", server);
	return seconds;
}

/** Resumes the run to its end. @param seconds those until the kill */
async function resumed(server, seconds) {
	await server.arrivals();
	const started = performance.now();
	// A resumed run keeps its --no-undo and --rate.
	const run = world.startRagtag(server, ["runs", "resume", "-q"], { state: "scale" });
	let isOver = false;
	run.ended.finally(() => (isOver = true)).catch(() => undefined);
	let first;
	while (first === undefined && !isOver) {
		if ((await server.requests()).requests > 0) first = (performance.now() - started) / 1000;
		else await new Promise((resolve) => setTimeout(resolve, 50));
	}
	const share = first === undefined ? undefined : round(first / seconds, 3);
	told("resume, seconds until its first request", first === undefined ? undefined : round(first, 1));
	told("the same against the time of the run until the kill", share, "< 0.1");
	await Promise.all(await follow(run, server, Number.POSITIVE_INFINITY));
	const { peakMegabytes } = await run.ended;
	told("resume, peak memory in megabytes", round(peakMegabytes, 0), "<= 160");
}

/**
 * Keeps a row of the table for each tenth of the rows, until the server has taken so many or the run has ended.
 *
 * @returns the lists of runs that were begun beside it. They are not waited for: few rows would be over meanwhile
 */
async function follow({ pid, ended }, server, until) {
	let isOver = false;
	ended.finally(() => (isOver = true)).catch(() => undefined);
	const lists = [];
	let before = await sample(pid, server, world.path("scale"));
	const tenth = () => Math.floor((before.updates * 10) / rows);
	let next = tenth() + 1;
	let last = { updates: -1, at: performance.now() };
	while (!isOver) {
		await pause();
		const now = await sample(pid, server, world.path("scale"));
		if (now.updates !== last.updates) last = { updates: now.updates, at: performance.now() };
		else if (performance.now() - last.at > STUCK) throw new Error(`no row was written after ${now.updates}`);
		if (now.updates >= until) break;
		if (now.updates < (rows * next) / 10) {
			// The check comes before the first row: its CPU is no cost of a row.
			if (before.updates === 0) before = now;
			continue;
		}
		const line = lineOf(before, now);
		const list = listed(server).then(({ seconds, cpuSeconds }) =>
			add({ ...line, [LIST_SECONDS]: seconds, "its CPU, seconds": cpuSeconds }),
		);
		// What fails is thrown where the lists are waited for.
		list.catch(() => undefined);
		lists.push(list);
		before = now;
		next = tenth() + 1;
	}
	const end = await sample(pid, server, world.path("scale"));
	if (end.cpuSeconds !== undefined && end.updates > before.updates) add(lineOf(before, end));
	return lists;
}

function add(line) {
	tenths.push(line);
	console.log(JSON.stringify(line));
}

/** Of a process that has ended, or without /proc, memory and CPU are absent. */
function lineOf(before, now) {
	const written = now.updates - before.updates;
	const cpu = ((now.cpuSeconds - before.cpuSeconds) * 1e6) / written;
	return {
		rows: now.updates,
		"megabytes now": rounded(now.megabytes, 0),
		"megabytes at most": rounded(now.peakMegabytes, 0),
		"CPU microseconds a row": rounded(cpu, 1),
		"bytes of records a row": rounded((now.bytes - before.bytes) / written, 0),
	};
}

function rounded(value, digits) {
	return Number.isFinite(value) ? round(value, digits) : undefined;
}

async function toldOfList(when, server) {
	const list = await listed(server);
	told(`runs list ${when}, seconds`, list.seconds);
	told(`runs list ${when}, CPU seconds`, list.cpuSeconds);
	return list;
}

/** @returns what a list of the runs takes, and what it shows of the one run */
async function listed(server) {
	const options = { state: "scale", isRead: true };
	const { seconds, cpuSeconds, output } = await world.ragtag(server, ["runs", "list", "--json"], options);
	const runs = output
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	if (runs.length !== 1) throw new Error(`runs list shows ${runs.length} runs, not 1`);
	return { seconds: round(seconds), cpuSeconds: round(cpuSeconds), run: runs[0] };
}
