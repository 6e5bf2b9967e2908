// 100,000 rows and a service that is away for a minute in the middle of them.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { start, startSandbox } from "./processes.mjs";
import { newestFolder, outcomesOf } from "./records.mjs";
import { disagreements, lostRows, summaryIn } from "./rounds.mjs";
import { FAST, idOf, tagManifest } from "./tag.mjs";

const AWAY = 60_000;
const PATIENCE = 900_000;

export async function tortureOutage(folder, { rows, seed, tell }) {
	const fault = { fault: "outage", milliseconds: AWAY, on: { method: "PUT", nth: Math.ceil(rows / 2) } };
	const sandbox = await startSandbox(folder, ["--documents", String(rows)], { seed, faults: [fault] });
	try {
		await writeFile(join(folder, "m.csv"), tagManifest(rows));
		const state = join(folder, "state");
		const options = { cwd: folder, env: { ...sandbox.env, RAGTAG_STATE_DIR: state }, patience: PATIENCE };
		const onError = (text) => tell(text.trimEnd());
		const end = await start(["docs", "tag", "m.csv", "-d", sandbox.dataset, ...FAST], { ...options, onError }).ended;
		const summary = summaryIn(end.out);
		const { rows: outcomes, doubled } = outcomesOf(newestFolder(state));
		// Counts hold for any number of requests; the ledger lets go of old entries.
		const lines = (await (await fetch(`${sandbox.control}/counts`)).text()).trimEnd().split("\n");
		const applied = new Map(lines.slice(1).map((line) => [JSON.parse(line).document, JSON.parse(line).updates]));
		const lost = lostRows(outcomes, rows, (row) => applied.get(idOf(row)) > 0);
		const twice = [...applied.values()].filter((updates) => updates > 1).length;
		const faults = disagreements(summary, outcomes, rows);
		if (end.code !== 0) faults.push(`the run ended with ${end.code}`);
		if (summary.failed !== 0) faults.push(`${summary.failed} rows failed for an outage`);
		if (lost.length > 0) faults.push(`rows lost: ${lost.slice(0, 5).join(", ")}`);
		const { updated, failed, attempts, seconds: took } = summary;
		const figures = { rows, updated, failed, lost: lost.length, doubled: doubled.length, twice, attempts, took };
		return { figures, faults };
	} finally {
		await sandbox.stop();
	}
}
