// The journal of a run as its file has it: read here without the program's own reader.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Run folders of a state folder that can be gone on with, the oldest first: others were cut off before anything was sent. */
export function runFolders(state) {
	const runs = join(state, "runs");
	return namesIn(runs)
		.filter((name) => /^\d{8}T\d{6}-/.test(name))
		.toSorted()
		.map((name) => join(runs, name))
		.filter((folder) => isWhole(join(folder, "run.json")) && journalOf(folder) !== "")
		.filter((folder) => outcomesOf(folder).headers > 0);
}

/** The newest run's folder, whatever is in it. */
export function newestFolder(state) {
	const runs = join(state, "runs");
	const name = namesIn(runs)
		.filter((each) => /^\d{8}T/.test(each))
		.toSorted()
		.at(-1);
	return name === undefined ? undefined : join(runs, name);
}

/** Outcomes by row, rows that have more than one, and executions. A torn last line is none. */
export function outcomesOf(folder) {
	const rows = new Map();
	const doubled = [];
	let headers = 0;
	let ended = false;
	for (const line of journalOf(folder).split("\n").slice(0, -1)) {
		const [, code, row, id] = LINE.exec(line) ?? [];
		ended = code === "en";
		if (code === "he") headers += 1;
		if (code === "re") for (const [each, { s }] of rows) if (s === "failed") rows.delete(each);
		const s = STATUSES[code];
		if (s === undefined) continue;
		if (rows.has(Number(row))) doubled.push(Number(row));
		rows.set(Number(row), { s, id });
	}
	return { rows, doubled, headers, ended };
}

/** Checksum, code, row, line, attempts, dataset and document: what follows is JSON. */
const LINE = /^[0-9a-f]{8} ([a-z]{2}) (\d+) \d+ \d+ "[^"]*" "([^"]*)" \{/;

const STATUSES = {
	ou: "updated",
	os: "updated",
	on: "unchanged",
	op: "uploaded",
	or: "removed",
	of: "failed",
	ox: "failed",
};

/** The text of a journal. The plain file counts, also beside a compressed one that a kill left. */
function journalOf(folder) {
	const path = join(folder, "journal.log");
	if (existsSync(path)) return readFileSync(path, "utf8");
	return existsSync(`${path}.gz`) ? gunzipSync(readFileSync(`${path}.gz`)).toString() : "";
}

function isWhole(path) {
	try {
		JSON.parse(readFileSync(path, "utf8"));
		return true;
	} catch {
		return false;
	}
}

export function sizeOf(path) {
	return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function namesIn(folder) {
	try {
		return readdirSync(folder);
	} catch {
		return [];
	}
}
