import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { killedWhen, program, start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, serve } from "../support/service.ts";

it("the next start removes the copy of a manifest that kill -9 left", async () => {
	const service = await serve(100, { latency: 20 });
	const path = await file(
		"tags.csv",
		`document_id,n:number\n${(await service.ids()).map((id) => `${id},1\n`).join("")}`,
	);
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	const argv = ["docs", "tag", "-", "-d", service.dataset, "--rate", "5000", "--concurrency", "2"];
	const written = (): number => service.requests.filter((line) => /^PUT .* 200$/.test(line)).length;
	await killedWhen(start(argv, env, await readFile(path, "utf8")), () => written() > 10);
	const kept = join(env.RAGTAG_STATE_DIR, "tmp");
	const left = await readdir(kept, { recursive: true });
	expect(left.filter((name) => name.endsWith("manifest"))).toHaveLength(1);
	expect((await program(["docs", "tag", path, "-d", service.dataset, "--dry-run"], env)).exit).toBe(0);
	expect(await readdir(kept)).toEqual([]);
});
