// `docs tag --resume` under random kills, over a service that fails.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { faultsOf } from "./faults.mjs";
import { Ledger, resent } from "./ledger.mjs";
import { startSandbox } from "./processes.mjs";
import { lostRows, rounds } from "./rounds.mjs";

/** Arguments that all runs share: as fast as it goes, and what is said is for programs. */
export const FAST = ["--resume", "--rate", "unlimited", "--json", "--progress", "none"];

export const idOf = (row) => (row + 1).toString(16).padStart(32, "0");

export async function tortureTag(folder, { kills, rows, seed, concurrency, random, tell }) {
	const sandbox = await startSandbox(folder, ["--documents", String(rows)], faultsOf(seed, "PUT"));
	try {
		const ledger = new Ledger(sandbox.control);
		await writeFile(join(folder, "m.csv"), tagManifest(rows));
		const state = join(folder, "state");
		const env = { ...sandbox.env, RAGTAG_STATE_DIR: state };
		const options = { kills, rows, random, tell, ledger, cwd: folder, env, state };
		const { sums, faults } = await rounds(options, async (round) => ({
			argv: ["docs", "tag", "m.csv", "-d", sandbox.dataset, ...FAST, ...ofRound(round, concurrency)],
			judge: async ({ outcomes, starts }) => {
				const { writes, all, most, asked, unasked } = resent(ledger, starts);
				const isApplied = (row) => writes.get(idOf(row))?.some((write) => holds(write, { n: row, round }));
				return { lost: lostRows(outcomes, rows, isApplied), again: all, most, asked, unexplained: unasked.length };
			},
		}));
		if (sums.most > concurrency)
			faults.push(`${sums.most} rows were sent again for one kill, at ${concurrency} in flight`);
		if (sums.unexplained > 0) faults.push(`${sums.unexplained} rows were written twice without any reason`);
		return { figures: { ...sums, concurrency }, faults };
	} finally {
		await sandbox.stop();
	}
}

const ofRound = (round, concurrency) => ["--set", `round:number=${round}`, "--concurrency", String(concurrency)];

export function tagManifest(rows) {
	return `document_id,n:number\n${Array.from({ length: rows }, (_, row) => `${idOf(row)},${row}\n`).join("")}`;
}

/** Metadata of the ledger are text, as they were stored. */
export function holds({ meta_fields: fields }, wanted) {
	const stored = typeof fields === "string" ? JSON.parse(fields) : fields;
	return Object.entries(wanted).every(([name, value]) => stored?.[name] === value);
}
