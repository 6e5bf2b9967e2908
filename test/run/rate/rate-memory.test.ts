import { mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileRateMemory, keptRateText, readKeptRate } from "../../../src/run/rate/rate-memory.ts";
import type { FoundRate } from "../../../src/run/rate/rate-memory.ts";

const URL = "http://127.0.0.1:9380";
const NOW = new Date("2026-11-22T12:00:00Z");
const FOUND: FoundRate = { rate: 148, because: "latency", at: 155 };

async function memoryOf() {
	const folder = await mkdtemp(join(tmpdir(), "ragtag-rate-"));
	const notes: string[] = [];
	const memory = fileRateMemory(folder, URL, { date: () => NOW, note: (text) => notes.push(text) });
	const file = async (): Promise<string> => {
		const [name = ""] = await readdir(join(folder, "services"));
		return join(folder, "services", name);
	};
	return { memory, notes, file, folder };
}

it.each<FoundRate>([FOUND, { rate: 0.5, because: "429", at: 1 }, { rate: 640, because: null, at: null }])(
	"what one run found is where the next begins: %j",
	async (found) => {
		const { memory, notes, file } = await memoryOf();
		expect(await memory.load()).toBeUndefined();
		await memory.save(found);
		expect(await memory.load()).toEqual(found);
		expect(notes).toEqual([]);
		expect((await stat(await file())).mode & 0o777).toBe(0o600);
		expect(JSON.parse(await readFile(await file(), "utf8"))).toMatchObject({ base_url: URL, rate: found.rate });
	},
);

it("a damaged file gets one note, and the search for the rate begins anew", async () => {
	const { memory, notes, file } = await memoryOf();
	await memory.save(FOUND);
	await writeFile(await file(), '{"schema":1,"rate":');
	expect(await memory.load()).toBeUndefined();
	expect(notes).toEqual([`${await file()} is damaged, and is not used: the rate is looked for anew.`]);
});

it.each([
	["another address", keptRateText("http://other.example.com", FOUND, NOW), undefined],
	["two months ago", keptRateText(URL, FOUND, new Date("2026-09-20T12:00:00Z")), undefined],
	["another release", '{"schema":2,"something":"else"}', undefined],
	["no JSON", "148", "damaged"],
	["an impossible rate", keptRateText(URL, { ...FOUND, rate: -1 }, NOW), "damaged"],
	["an unknown cause", keptRateText(URL, FOUND, NOW).replace("latency", "moon"), "damaged"],
])("a file of %s is not used", (_, text, read) => {
	expect(readKeptRate(text, URL, NOW)).toBe(read);
});

it("a folder that can't be written costs nothing but the search", async () => {
	const memory = fileRateMemory("/proc/nothing", URL, { date: () => NOW, note: () => undefined });
	await memory.save(FOUND);
	expect(await memory.load()).toBeUndefined();
});
