// Measures every goal of bench/figures.md in one run, side by side, and prints a table or a JSON line each.
//
//   npm run bench [-- --short] [-- --json] [-- --only NAME] [-- --markdown bench/figures.md]
//
// Client and server run on a core each where taskset is there. Ways that are compared take turns, and medians are compared.
// `holds` is null where a figure has no goal, or could not be measured; then the table, or standard error, says why.
// `--markdown` puts the table into a page as well. Not a test: times of a busy machine mean little.
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { parseArgs } from "node:util";
import { jsonLine, TABLE_HEAD, tableRow, verdictText, withSection } from "./goals.mjs";
import { machineText } from "./machine.mjs";
import { resume } from "./measures/growth.mjs";
import { capOf100, capOf1000, leastConcurrency } from "./measures/pace.mjs";
import { runsList } from "./measures/runs-list.mjs";
import { sharedCap, sharedFaults } from "./measures/shared-cap.mjs";
import { check, memory } from "./measures/size.mjs";
import { startup } from "./measures/startup.mjs";
import { unknownLimit } from "./measures/unknown-limit.mjs";
import { uncapped } from "./measures/uncapped.mjs";
import { World } from "./world.mjs";

const MEASURES = {
	startup,
	check,
	uncapped,
	capOf100,
	capOf1000,
	sharedCap,
	sharedFaults,
	pace: unknownLimit,
	leastConcurrency,
	memory,
	resume,
	runsList,
};

/** The section of the page that `--markdown` replaces. */
const SECTION = "## All figures";

const { values } = parseArgs({
	options: {
		short: { type: "boolean" },
		json: { type: "boolean" },
		only: { type: "string", multiple: true },
		markdown: { type: "string" },
	},
});
const { only, markdown, json = false, short: isShort = false } = values;
const unknown = (only ?? []).filter((name) => !Object.hasOwn(MEASURES, name));
if (unknown.length > 0) {
	console.error(`no measure ${unknown.join(", ")}; there are ${Object.keys(MEASURES).join(", ")}`);
	process.exit(2);
}

const started = performance.now();
const figures = [];
const rows = [];
const world = await World.open();
if (!json) console.log(TABLE_HEAD);
try {
	for (const [key, measure] of Object.entries(MEASURES)) {
		if (only !== undefined && !only.includes(key)) continue;
		const began = performance.now();
		try {
			for await (const figure of measure(world, { isShort })) tell(figure);
		} catch (error) {
			// The other measures of a long run are not lost.
			tell({ name: key, why: error.message.split("\n")[0] });
			process.exitCode = 1;
		}
		console.error(`${key}: ${secondsSince(began)} s, ${secondsSince(started)} s in all`);
	}
} finally {
	await world.close();
}

function secondsSince(time) {
	return Math.round((performance.now() - time) / 1000);
}

function tell(figure) {
	figures.push(figure);
	rows.push(tableRow(figure));
	console.log(json ? jsonLine(figure) : rows.at(-1));
	if (json && figure.figure === undefined) console.error(`${figure.name}: not measured: ${figure.why ?? ""}`);
}

const verdict = verdictText(figures);
if (!json) console.log(`\n${verdict}`);
if (markdown !== undefined) {
	const command = [
		"npm run bench --",
		...(isShort ? ["--short"] : []),
		...(only ?? []).map((name) => `--only ${name}`),
	];
	const minutes = Math.ceil((performance.now() - started) / 60_000);
	const origin = `\`${[...command, `--markdown ${markdown}`].join(" ")}\` made this table in ${minutes} minutes: ${await machineText()}.`;
	const text = [origin, [TABLE_HEAD, ...rows].join("\n"), verdict].join("\n\n");
	await writeFile(markdown, withSection(await readFile(markdown, "utf8"), SECTION, text));
}
