import { appendFile, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { encode } from "../../../src/run/journal/encode.ts";
import { LastReading } from "../../../src/run/journal/last-reading.ts";
import { createRun } from "../../../src/run/journal/open.ts";
import { packRun } from "../../../src/run/journal/packed.ts";
import { JOURNAL_FILE, SENT_FILE } from "../../../src/run/journal/reader.ts";
import { folder, header, outcome, sent } from "./support.ts";

async function aRun(): Promise<string> {
	const path = join(await folder(), "run-1");
	const run = await createRun(path, header());
	for (const row of [1, 2]) await run.sent.append(sent(row));
	await run.journal.append(outcome(1));
	await run.close();
	return path;
}

it("a command that looks at a run twice reads its files once, as a million rows take seconds", async () => {
	const path = await aRun();
	const readings = new LastReading();
	const first = await readings.of(path);
	expect(first?.state.totals().updated).toBe(1);
	expect(await readings.of(path)).toBe(first);
	readings.forget();
	expect(await readings.of(path)).not.toBe(first);
});

it.each([
	["an outcome follows", (path: string) => appendFile(join(path, JOURNAL_FILE), encode(outcome(2)))],
	["a row was sent since", (path: string) => appendFile(join(path, SENT_FILE), encode(sent(3)))],
	[
		"a file of the same bytes takes its place",
		async (path: string) => {
			const file = join(path, JOURNAL_FILE);
			await writeFile(`${file}.new`, await readFile(file));
			await rename(`${file}.new`, file);
		},
	],
])("it is read again where %s: a resume would send rows that another process has settled", async (_, change) => {
	const path = await aRun();
	const readings = new LastReading();
	const first = await readings.of(path);
	await change(path);
	const second = await readings.of(path);
	expect(second).not.toBe(first);
	expect(second?.state.totals().updated).toBe(
		(await readFile(join(path, JOURNAL_FILE), "utf8")).split('"k":"r"').length - 1,
	);
});

it("another run is read, and so is one whose files are compressed", async () => {
	const [path, other] = [await aRun(), await aRun()];
	const readings = new LastReading();
	const first = await readings.of(path);
	expect(await readings.of(other)).not.toBe(first);
	await appendFile(join(path, SENT_FILE), Array.from({ length: 900 }, (_, row) => encode(sent(row))).join(""));
	await packRun(path);
	const packed = await readings.of(path);
	expect(packed?.sent.count).toBe(900);
	expect(await readings.of(path)).not.toBe(packed);
});
