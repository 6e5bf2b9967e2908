import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../src/run/clock.ts";
import type { Clock } from "../../src/run/types.ts";
import { envOf, ragtag } from "../support/ragtag.ts";
import { folder, serve } from "../support/service.ts";
import { range } from "../support/values.ts";
import { isWhole } from "../support/whole.ts";

const DOCUMENTS = 1_000;
const LINE = /^\| `ragtag ([^`]+)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+)(?: \/ ([\d,]+))? \|$/gm;

const PAGE = new URL("../../docs/requests.md", import.meta.url);

const countOf = (text: string): number => Number(text.replaceAll(",", ""));

/** Commands that take `--rate`: without it each run would take ten seconds. */
const HAS_RATE = /^(docs (tag|upload|rm|apply|plan)|runs (undo|verify)) /;

/** Time that passes by waits alone: on a busy machine a list would grow too old, and be read again. */
function waitingClock(): Clock {
	let time = 0;
	return {
		...systemClock,
		now: () => time,
		sleep: async (milliseconds, signal) => {
			const until = time + milliseconds;
			await systemClock.sleep(1, signal);
			if (signal?.aborted !== true) time = Math.max(time, until);
		},
	};
}

// v1.0 gets the requests of v0.27: the same column stands for both.
it.each((["documented", "ragflow-0.27", "ragflow-1.0"] as const).slice(0, isWhole ? 3 : 2))(
	"docs/requests.md says how many requests each command sends to %s",
	{ timeout: 300_000 },
	async (flavour) => {
		const page = await readFile(PAGE, "utf8");
		const table = [...page.matchAll(LINE)].map(([, command = "", documented = "", ragflow = "", ...writes]) => ({
			command,
			reads: countOf(flavour === "documented" ? documented : ragflow),
			writes: countOf((flavour === "documented" ? undefined : writes[1]) ?? writes[0] ?? ""),
		}));
		expect(table.length).toBeGreaterThan(20);

		const service = await serve(DOCUMENTS, { flavour });
		const work = await folder();
		const documents = await service.documents();
		const lines = (header: string, texts: readonly string[]): string => `${header}\n${texts.join("\n")}\n`;
		const files = range(DOCUMENTS).map((n) => `file-${n}.txt`);
		await writeFile(
			join(work, "ALL.csv"),
			lines(
				"document_id,category",
				documents.map(({ id }) => `${id},news`),
			),
		);
		await writeFile(
			join(work, "NAMES.csv"),
			lines(
				"name,category",
				documents.map(({ name }) => `${name},news`),
			),
		);
		await writeFile(
			join(work, "FILES.csv"),
			lines(
				"file,category",
				files.map((name) => `${name},news`),
			),
		);
		for (const name of files) await writeFile(join(work, name), `text of ${name}`);
		const env = envOf(service);
		const home = await folder();
		const world = { env, home, clock: waitingClock() };
		const empty = await service.create("empty");
		// A list without any metadata is doubted where a search engine keeps it, and costs more requests.
		for (const { id } of documents) await service.put(id, { author: "Ann" });
		// Finds out the flavour, as the first command to an address does.
		await ragtag(["doctor", "-d", service.dataset], world);

		const seen: typeof table = [];
		for (const { command } of table) {
			const before = service.requests.length;
			const argv = command
				.replace("DATASET", service.dataset)
				.replace("EMPTY", empty)
				.split(" ")
				.map((word) => (/\.(csv|jsonl)$/.test(word) ? join(work, word) : word));
			const rate = HAS_RATE.test(`${command} `) ? ["--rate", "unlimited"] : [];
			const { exit, stderr } = await ragtag([...argv, ...rate], world);
			expect([command, exit, exit === 0 ? "" : stderr]).toEqual([command, 0, ""]);
			const sent = service.requests.slice(before);
			const reads = sent.filter((request) => request.startsWith("GET ")).length;
			seen.push({ command, reads, writes: sent.length - reads });
		}
		if (process.env["RAGTAG_DOCS"] === "write") {
			const counts = seen.values();
			await writeFile(
				PAGE,
				page.replace(LINE, (_, command: string, ...old: (string | undefined)[]) => {
					const { reads = 0, writes = 0 } = counts.next().value ?? {};
					const [read, written] = [reads.toLocaleString("en"), writes.toLocaleString("en")];
					const isDocumented = flavour === "documented";
					const [write, other = write] = isDocumented ? [written, old[3] ?? old[2]] : [old[2], written];
					const cells = [
						...(isDocumented ? [read, old[1]] : [old[0], read]),
						write === other ? write : `${write} / ${other}`,
					];
					return `| \`ragtag ${command}\` | ${cells.join(" | ")} |`;
				}),
			);
			return;
		}
		expect(seen).toEqual(table);
	},
);
