import { expect, it } from "vitest";
import { program, start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, serve, type Service } from "../support/service.ts";
import { at, range } from "../support/values.ts";

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
	await expect.poll(() => updated(service).length).toBeGreaterThan(2);
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
