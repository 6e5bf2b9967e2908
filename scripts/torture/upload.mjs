// `docs upload --resume` under random kills: no file twice, on a server that stores a second one as `a(1).txt`.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { faultsOf } from "./faults.mjs";
import { Ledger } from "./ledger.mjs";
import { start, startSandbox } from "./processes.mjs";
import { lostRows, rounds } from "./rounds.mjs";
import { FAST } from "./tag.mjs";

export async function tortureUpload(folder, { kills, rows, seed, concurrency, random, tell }) {
	const flavour = ["--flavour", "ragflow-0.21"];
	// A dataset comes with the documents of an empty store; that one document is another's.
	const sandbox = await startSandbox(folder, ["--documents", "1", ...flavour], faultsOf(seed, "POST", "PUT"));
	try {
		const ledger = new Ledger(sandbox.control);
		const state = join(folder, "state");
		const env = { ...sandbox.env, RAGTAG_STATE_DIR: state };
		const documents = async () => {
			const list = ["docs", "list", "-d", sandbox.dataset, "--format", "jsonl", "--rate", "unlimited"];
			const { code, out, err } = await start(list, { cwd: folder, env }).ended;
			if (code !== 0) throw new Error(`the documents could not be listed: ${err}`);
			return out
				.trimEnd()
				.split("\n")
				.map((line) => JSON.parse(line));
		};
		// A file whose upload nobody can be sure of is a failed row: it is not sent again unless the user says so.
		const options = { retries: 3, kills, rows, random, tell, ledger, cwd: folder, env, state };
		const { sums, faults } = await rounds(options, async (round) => {
			const files = join(folder, `round-${round}`);
			await mkdir(files);
			const names = Array.from({ length: rows }, (_, row) => `round-${round}-file-${row}.txt`);
			await Promise.all(names.map((name) => writeFile(join(files, name), `This is ${name}.\n`)));
			const manifest = join(files, "files.csv");
			await writeFile(manifest, `file,n:number\n${names.map((name, row) => `${name},${row}\n`).join("")}`);
			return {
				argv: ["docs", "upload", manifest, "-d", sandbox.dataset, ...FAST, "--concurrency", String(concurrency)],
				judge: async ({ outcomes }) => {
					const held = (await documents()).filter(({ name }) => name.startsWith(`round-${round}-`));
					const byId = new Map(held.map((document) => [document.document_id, document]));
					const isThere = (row, { id }) => byId.get(id)?.name === names[row] && byId.get(id)?.meta_fields.n === row;
					const uploads = ledger.applied.filter(({ action }) => action === "upload").length;
					const second = held.filter(({ name }) => !names.includes(name)).length;
					return { lost: lostRows(outcomes, rows, isThere), documents: held.length, second, uploads };
				},
			};
		});
		if (sums.second > 0) faults.push(`${sums.second} files were stored a second time`);
		if (sums.documents !== sums.rows) faults.push(`${sums.documents} documents of ${sums.rows} files`);
		return { figures: { ...sums, concurrency }, faults };
	} finally {
		await sandbox.stop();
	}
}
