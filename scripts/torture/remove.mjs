// `docs rm --resume` under random kills: what was removed counts as removed, and nothing else is gone.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { faultsOf } from "./faults.mjs";
import { Ledger } from "./ledger.mjs";
import { startSandbox } from "./processes.mjs";
import { lostRows, rounds } from "./rounds.mjs";
import { FAST, idOf } from "./tag.mjs";

/** Documents for so many rounds; every second one stays. */
const ROUNDS = 20;

export async function tortureRemove(folder, { kills, rows, seed, concurrency, random, tell }) {
	const documents = String(2 * rows * ROUNDS);
	const sandbox = await startSandbox(folder, ["--documents", documents], faultsOf(seed, "DELETE"));
	try {
		const ledger = new Ledger(sandbox.control);
		const state = join(folder, "state");
		const env = { ...sandbox.env, RAGTAG_STATE_DIR: state };
		const options = { kills, rows, random, tell, ledger, cwd: folder, env, state };
		const { sums, faults } = await rounds(options, async (round) => {
			const ids = Array.from({ length: rows }, (_, row) => idOf(2 * ((round - 1) * rows + row)));
			const manifest = join(folder, `round-${round}.csv`);
			await writeFile(manifest, `document_id\n${ids.map((id) => `${id}\n`).join("")}`);
			const words = ["--yes", "--concurrency", String(concurrency)];
			return {
				argv: ["docs", "rm", manifest, "-d", sandbox.dataset, ...FAST, ...words],
				judge: async ({ outcomes }) => {
					const removed = new Set(
						ledger.applied.filter(({ action }) => action === "remove").map(({ document }) => document),
					);
					const others = [...removed].filter((id) => !ids.includes(id)).length;
					return { lost: lostRows(outcomes, rows, (row) => removed.has(ids[row])), others };
				},
			};
		});
		if (sums.others > 0) faults.push(`${sums.others} documents are gone that no row names`);
		if (sums.failed > 0) faults.push(`${sums.failed} rows failed, though their document was there to be removed`);
		return { figures: { ...sums, concurrency }, faults };
	} finally {
		await sandbox.stop();
	}
}
