// Ten million rows, or as many as --rows says, against the bench's server: does anything grow that must not?
//
//   npm run --silent build && node bench/scale.mjs [--rows 10000000] [--undo] [--folder DIR]
//
// It prints a line for each tenth of the rows: memory of the client, CPU of a row, bytes of records, seconds of `runs list`
// beside the run. At nine tenths it kills the run with SIGKILL and resumes it. At the end each row must have been
// written exactly once by the count of the server, besides those that were in flight at the kill. A row takes about 0.4 kB of
// the folder, with --undo more. With --folder, what the program recorded stays there.
import process from "node:process";
import { parseArgs } from "node:util";
import { machineText } from "./machine.mjs";
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

/** Milliseconds between two looks at the run. */
const EVERY = 1_000;

/** The share of the rows at which the run is killed. */
const KILLED_AT = 0.9;

const pause = () => new Promise((resolve) => setTimeout(resolve, EVERY));
const numberText = (value) => value.toLocaleString("en");
const told = (name, figure) => console.log(JSON.stringify({ name, figure }));

const world = await World.open(values.folder);
try {
	console.log(`${numberText(rows)} rows, docs tag ${flags.join(" ")}: ${await machineText()}`);
	const server = await world.server(rows);
	const started = performance.now();
	const first = await world.startTag(server, rows, flags, { state: "scale" });
	await follow(first, server, rows * KILLED_AT);
	const seconds = (performance.now() - started) / 1000;
	first.kill();
	await first.ended;
	const atKill = await server.counts();
	told("rows written when it was killed", atKill.updates);
	told("seconds until then", round(seconds, 0));
	told("runs list after the kill, seconds", await secondsOfList(server));

	await server.arrivals();
	const again = performance.now();
	const second = world.startRagtag(server, ["runs", "resume", "-q"], { state: "scale" });
	let firstRequest;
	while (
		firstRequest === undefined &&
		(await sample(second.pid, server, world.path("scale"))).megabytes !== undefined
	) {
		if ((await server.requests()).requests > 0) firstRequest = (performance.now() - again) / 1000;
		else await new Promise((resolve) => setTimeout(resolve, 50));
	}
	told("resume, seconds until its first request", round(firstRequest, 1));
	told("the same against the time of the run until the kill", round(firstRequest / seconds, 3));
	await follow(second, server, rows);
	const { peakMegabytes } = await second.ended;
	told("resume, peak memory in megabytes", round(peakMegabytes, 0));
	const { never, once, oftener } = await server.counts();
	told("rows that were written exactly once", once);
	told("rows that were written twice: in flight at the kill", oftener);
	told("rows that were never written", never);
	told("runs list after the end, seconds", await secondsOfList(server));
	if (never > 0) process.exitCode = 1;
} finally {
	await world.close(values.folder !== undefined);
}

/** Prints a line for each tenth of the rows, until the server has taken so many or the run has ended. */
async function follow({ pid, ended }, server, until) {
	let isOver = false;
	ended.finally(() => (isOver = true)).catch(() => undefined);
	let before = await sample(pid, server, world.path("scale"));
	const tenth = () => Math.floor((before.updates * 10) / rows);
	let next = tenth() + 1;
	while (!isOver) {
		await pause();
		const now = await sample(pid, server, world.path("scale"));
		if (now.cpuSeconds === undefined || now.updates >= until) break;
		if (now.updates < (rows * next) / 10) {
			// The check comes before the first row: its CPU is no cost of a row.
			if (before.updates === 0) before = now;
			continue;
		}
		console.log(JSON.stringify({ ...lineOf(before, now), "runs list, seconds": await secondsOfList(server) }));
		before = now;
		next = tenth() + 1;
	}
	const last = await sample(pid, server, world.path("scale"));
	if (last.cpuSeconds !== undefined && last.updates > before.updates) console.log(JSON.stringify(lineOf(before, last)));
}

function lineOf(before, now) {
	const written = now.updates - before.updates;
	return {
		rows: now.updates,
		"megabytes now": round(now.megabytes, 0),
		"megabytes at most": round(now.peakMegabytes, 0),
		"CPU microseconds a row": round(((now.cpuSeconds - before.cpuSeconds) * 1e6) / written, 1),
		"bytes of records a row": round((now.bytes - before.bytes) / written, 0),
	};
}

async function secondsOfList(server) {
	const { seconds } = await world.ragtag(server, ["runs", "list", "--json"], { state: "scale" });
	return round(seconds);
}
