// `docs tag --resume` under random kills, over a service that fails: rounds of one manifest until all kills are spent.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { killedRun } from "./kills.mjs";
import { Ledger, resent } from "./ledger.mjs";
import { startSandbox } from "./processes.mjs";
import { outcomesOf, runFolders } from "./records.mjs";

/** Every way in which a write can be lost, answered late, or applied and not confirmed. */
export const faultsOf = (method, seed) => ({
	seed,
	faults: [
		{ fault: "reset", when: "after", on: { method, probability: 0.02 } },
		{ fault: "reset", when: "before", on: { method, probability: 0.02 } },
		{ fault: "status", status: 503, when: "before", on: { method, probability: 0.02 } },
		{ fault: "status", status: 503, when: "after", on: { method, probability: 0.02 } },
		{ fault: "late", milliseconds: 5, jitter: 40, on: { method, probability: 0.05 } },
		{ fault: "delay", when: "after", milliseconds: 5, jitter: 40, on: { method, probability: 0.1 } },
	],
});

export async function tortureTag(folder, { kills, rows, seed, concurrency, random, tell }) {
	const sandbox = await startSandbox(folder, ["--documents", String(rows)], faultsOf("PUT", seed));
	try {
		const ledger = new Ledger(sandbox.control);
		const state = join(folder, "state");
		await mkdir(state, { mode: 0o700 });
		const lines = Array.from({ length: rows }, (_, row) => `${idOf(row)},${row}\n`);
		await writeFile(join(folder, "m.csv"), `document_id,n:number\n${lines.join("")}`);
		const env = { ...sandbox.env, RAGTAG_STATE_DIR: state };
		const sums = {
			kills: 0,
			rounds: 0,
			rows: 0,
			lost: 0,
			doubled: 0,
			again: 0,
			most: 0,
			asked: 0,
			unasked: 0,
			failed: 0,
		};
		const faults = [];
		const share = Math.max(1, Math.ceil((rows / kills) * 0.6));
		while (sums.kills < kills) {
			sums.rounds += 1;
			const round = sums.rounds;
			const words = ["-d", sandbox.dataset, "--set", `round:number=${round}`, "--concurrency", String(concurrency)];
			const argv = [
				"docs",
				"tag",
				"m.csv",
				"--resume",
				"--rate",
				"unlimited",
				"--json",
				"--progress",
				"none",
				...words,
			];
			const options = { cwd: folder, env, state, kills: kills - sums.kills, share, random };
			const done = await killedRun(argv, {
				...options,
				onKill: async (count) => {
					await ledger.follow();
					if ((sums.kills + count) % 50 === 0) tell(`${sums.kills + count} kills`);
				},
			});
			sums.kills += done.killed;
			await ledger.settle();
			const judged = judge(done, { ledger, state, round, rows });
			sums.rows += rows;
			for (const name of ["lost", "doubled", "again", "asked", "unasked", "failed"]) sums[name] += judged[name];
			sums.most = Math.max(sums.most, judged.most);
			faults.push(...judged.faults);
			ledger.forget();
			if (done.killed === 0) break;
		}
		if (sums.most > concurrency)
			faults.push(`${sums.most} rows were sent again after one kill: concurrency ${concurrency}`);
		return { ...sums, concurrency, faults };
	} finally {
		await sandbox.stop();
	}
}

const idOf = (row) => (row + 1).toString(16).padStart(32, "0");

/** Holds summary, journal and ledger against each other. */
function judge({ end, starts }, { ledger, state, round, rows }) {
	const faults = [];
	const summary = JSON.parse(end.out.trimEnd().split("\n").at(-1) || "{}");
	const folders = runFolders(state);
	const { rows: outcomes, doubled, headers } = outcomesOf(folders.at(-1));
	const { writes, all, most, asked, unasked } = resent(ledger, starts);
	const isApplied = (row) => {
		const list = writes.get(idOf(row)) ?? [];
		return list.some(({ meta_fields: fields }) => holds(fields, { n: row, round }));
	};
	const lost = [];
	for (let row = 0; row < rows; row++) {
		const status = outcomes.get(row)?.s;
		if (status === undefined || (status === "updated" && !isApplied(row))) lost.push(row);
	}
	const claimed = [...outcomes.values()].filter(({ s }) => s === "updated").length;
	if (end.code !== 0) faults.push(`round ${round} ended with ${end.code}: ${end.err.trimEnd().split("\n").at(-1)}`);
	if (summary.updated !== claimed || summary.rows !== rows) {
		faults.push(
			`round ${round}: the summary has ${summary.updated} of ${summary.rows} updated, the journal ${claimed}`,
		);
	}
	if (folders.length !== round) faults.push(`round ${round}: ${folders.length} runs were begun, not ${round}`);
	if (lost.length > 0) faults.push(`round ${round}: rows lost: ${lost.slice(0, 5).join(", ")}`);
	if (doubled.length > 0) faults.push(`round ${round}: rows counted twice: ${doubled.slice(0, 5).join(", ")}`);
	if (unasked.length > 0) faults.push(`round ${round}: sent twice in one sitting: ${unasked.slice(0, 5).join(", ")}`);
	const numbers = { lost: lost.length, doubled: doubled.length, again: all, most, asked, unasked: unasked.length };
	return { ...numbers, failed: summary.failed ?? 0, headers, faults };
}

/** Metadata of the ledger is text or an object, as it was stored. */
function holds(fields, wanted) {
	const object = typeof fields === "string" ? JSON.parse(fields) : fields;
	return Object.entries(wanted).every(([name, value]) => object?.[name] === value);
}
