import { expect, it } from "vitest";
import { program, shell, start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, serve, type Service } from "../support/service.ts";
import { at, parseLines, range } from "../support/values.ts";

const manifest = async (service: Service): Promise<string> =>
	file("tags.csv", `document_id,n:number\n${(await service.ids()).map((id, n) => `${id},${n}\n`).join("")}`);

const updated = (service: Service): readonly string[] =>
	service.requests.filter((line) => line.startsWith("PUT") && line.endsWith(" 200"));

const values = async (service: Service): Promise<unknown[]> =>
	(await service.documents()).map(({ metadata }) => at(metadata, "n"));

it("while a shard goes on, it and the whole manifest are refused, and another shard is not", async () => {
	const service = await serve(60, { latency: 50 });
	const path = await manifest(service);
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	const tag = ["docs", "tag", path, "-d", service.dataset, "--rate", "5000", "--json"];
	const first = start([...tag, "--shard", "1/2", "--concurrency", "1", "--max-outage", "5m"], env);
	await expect.poll(() => updated(service).length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(2);
	first.child.kill("SIGSTOP");
	try {
		const refused = await Promise.all(
			[["--shard", "1/2"], [], ["--shard", "1/3"]].map((flags) => program([...tag, ...flags], env)),
		);
		expect(refused.map(({ exit }) => exit)).toEqual([5, 5, 5]);
		// Not beside them: each holds its own lock while it looks for others, and two that overlap may both be refused.
		expect((await program([...tag, "--shard", "2/2"], env)).exit).toBe(0);
	} finally {
		first.child.kill("SIGCONT");
	}
	expect((await first.ended).exit).toBe(0);
	expect(await values(service)).toEqual(range(60));
	expect(updated(service)).toHaveLength(60);
});

it("shards that a kill interrupted are resumed by the same line, and merged from the folders of their machines", async () => {
	const service = await serve(120, { latency: 10 });
	const path = await manifest(service);
	const [collected, home] = [await folder(), await folder()];
	const tag = ["docs", "tag", path, "-d", service.dataset, "--rate", "5000", "--json", "--resume"];
	const machine = (n: number): Record<string, string> => ({
		...envOf(service),
		RAGTAG_STATE_DIR: `${collected}/node${n}`,
	});
	const killed = start([...tag, "--shard", "1/2", "--concurrency", "1"], machine(1));
	await expect.poll(() => updated(service).length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(5);
	killed.child.kill("SIGKILL");
	await killed.ended;
	for (const n of [1, 2]) expect((await program([...tag, "--shard", `${n}/2`], machine(n))).exit).toBe(0);
	const line = `RUN=$($RAGTAG runs merge -q --from ${collected}) && $RAGTAG runs show "$RUN" --json`;
	const { stdout } = await shell(line, { ...envOf(service), RAGTAG_STATE_DIR: home });
	expect(parseLines(stdout)[0]).toMatchObject({ state: "finished", counts: { rows: 120, updated: 120 } });
	expect(await values(service)).toEqual(range(120));
});
