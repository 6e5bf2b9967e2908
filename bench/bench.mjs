// Measures every goal of docs/performance.md in one run, side by side, and prints a table or a JSON line each.
//
//   npm run bench [-- --short] [-- --json] [-- --only NAME]
//
// Client and server run on a core each where taskset is there. Ways that are compared take turns, and medians are compared.
// `holds` is null where a figure has no goal, or could not be measured. Not a test: times of a busy machine mean little.
import process from "node:process";
import { parseArgs } from "node:util";
import { capOf100, largerCaps, leastConcurrency } from "./measures/pace.mjs";
import { sharedCap } from "./measures/shared-cap.mjs";
import { check, memory } from "./measures/size.mjs";
import { resume, startup } from "./measures/startup.mjs";
import { uncapped, uncappedFar } from "./measures/uncapped.mjs";
import { World } from "./world.mjs";

const MEASURES = {
	startup,
	check,
	uncapped,
	uncappedFar,
	capOf100,
	largerCaps,
	sharedCap,
	leastConcurrency,
	memory,
	resume,
};

const { values } = parseArgs({
	options: { short: { type: "boolean" }, json: { type: "boolean" }, only: { type: "string", multiple: true } },
});
const { only, json = false, short: isShort = false } = values;
const unknown = (only ?? []).filter((name) => !Object.hasOwn(MEASURES, name));
if (unknown.length > 0) {
	console.error(`no measure ${unknown.join(", ")}; there are ${Object.keys(MEASURES).join(", ")}`);
	process.exit(2);
}

/** Whether a figure reaches `<= 1.3`, `>= 0.8` or `< 160`. */
function holds(figure, goal) {
	if (goal === undefined || figure === undefined) return null;
	const [relation, limit] = goal.split(" ");
	if (relation === ">=") return figure >= Number(limit);
	return relation === "<" ? figure < Number(limit) : figure <= Number(limit);
}

const world = await World.open();
if (!json) console.log("| measure | figure | goal | holds |\n|---|---|---|---|");
try {
	for (const [key, measure] of Object.entries(MEASURES)) {
		if (only !== undefined && !only.includes(key)) continue;
		for await (const { name, figure, goal } of measure(world, { isShort })) {
			const verdict = holds(figure, goal);
			if (json) console.log(JSON.stringify({ name, figure: figure ?? null, goal: goal ?? null, holds: verdict }));
			else {
				const word = verdict === null ? "" : verdict ? "yes" : "no";
				console.log(`| ${name} | ${figure ?? "not measured"} | ${goal ?? ""} | ${word} |`);
			}
		}
	}
} finally {
	await world.close();
}
