// `npm run torture`: kills the program again and again while it works against a service that fails, goes on each time,
// and compares what it says at the end with its journal and with the service's own ledger.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomFrom } from "./torture/random.mjs";
import { tortureOutage } from "./torture/outage.mjs";
import { tortureRemove } from "./torture/remove.mjs";
import { tortureTag } from "./torture/tag.mjs";
import { tortureUpload } from "./torture/upload.mjs";
import { tortureWrites } from "./torture/writes.mjs";

const { values } = parseArgs({
	options: {
		kills: { type: "string", default: "200" },
		rows: { type: "string", default: "5000" },
		seed: { type: "string", default: String(Date.now() % 1_000_000) },
		concurrency: { type: "string", default: "8" },
		only: { type: "string" },
		outage: { type: "boolean", default: false },
	},
});
const [kills, rows, seed, concurrency] = [values.kills, values.rows, values.seed, values.concurrency].map(Number);

const OUTAGE_ROWS = 100_000;

const PARTS = {
	tag: { title: "docs tag --resume under random kills", run: tortureTag },
	upload: {
		title: "docs upload --resume under random kills, on ragflow-0.21",
		// After each kill it waits for what may still arrive, many seconds.
		run: (folder, options) => tortureUpload(folder, { ...options, kills: Math.ceil(kills / 8), rows: 200 }),
	},
	rm: {
		title: "docs rm --resume under random kills",
		run: (folder, options) => tortureRemove(folder, { ...options, kills: Math.ceil(kills / 4), rows: 200 }),
	},
	writes: { title: "a kill, a full disk and a failing one at every write of the journal", run: tortureWrites },
};

/** Takes minutes: only when it is asked for. */
const OUTAGE = {
	title: "docs tag through an outage of a minute",
	run: (folder, options) => tortureOutage(folder, { ...options, rows: OUTAGE_ROWS }),
};

const LABELS = {
	again: "re-sent",
	most: "at most, of one kill",
	asked: "asked for by faults",
	faultsInjected: "faults injected",
};

const parts = values.outage ? ["outage"] : Object.keys(PARTS);
const wanted = parts.filter((name) => values.only === undefined || values.only.split(",").includes(name));
if (wanted.length === 0) throw new Error(`--only takes ${Object.keys(PARTS).join(", ")}`);
console.log(`seed ${seed}: --kills ${kills} --rows ${rows} --concurrency ${concurrency}`);
// Side by side: each has a service and a folder of its own, and mostly waits.
const failed = (await Promise.all(wanted.map((name) => part(name)))).includes(true);
console.log(failed ? "\ntorture failed" : "\nnothing lost, nothing counted twice");
process.exit(failed ? 1 : 0);

/** Runs one part, prints its figures at its end, and returns whether it failed. */
async function part(name) {
	const { title, run } = name === "outage" ? OUTAGE : PARTS[name];
	const folder = await mkdtemp(join(tmpdir(), "ragtag-torture-"));
	const started = performance.now();
	const lines = [];
	const found = [];
	try {
		const tell = (text) => console.log(`... ${name}: ${text}`);
		const options = { kills, rows, seed, concurrency, random: randomFrom(seed), tell };
		const { faults, figures } = await run(folder, options);
		lines.push(...Object.entries(figures).map(([figure, value]) => line(figure, value)));
		found.push(...faults);
	} catch (error) {
		found.push(error instanceof Error ? error.stack : String(error));
	}
	console.log(
		[`\n== ${title}`, ...lines, line("seconds", ((performance.now() - started) / 1000).toFixed(1))].join("\n"),
	);
	for (const fault of found) console.error(`FAULT: ${fault}`);
	if (found.length > 0) console.error(`What was left is in ${folder}`);
	else await rm(folder, { recursive: true, force: true });
	return found.length > 0;
}

function line(figure, value) {
	return `${(LABELS[figure] ?? figure).padEnd(22)} ${value}`;
}
