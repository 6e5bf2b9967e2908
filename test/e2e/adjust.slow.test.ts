import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { program, start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, serve } from "../support/service.ts";
import { summaryOf } from "../support/values.ts";

/** A service with three documents, a manifest for them, and a folder for runs. */
async function world(): Promise<{ env: Record<string, string>; argv: string[]; state: string }> {
	const service = await serve(3);
	const rows = (await service.ids()).map((id) => `${id},Ann\n`);
	const manifest = await file("tags.csv", `document_id,author\n${rows.join("")}`);
	const state = await folder();
	return { env: { ...envOf(service), RAGTAG_STATE_DIR: state }, argv: [manifest, "-d", service.dataset], state };
}

/** Resolves when a run in that folder takes changes. */
async function isGoingOn(state: string): Promise<void> {
	const folder = join(state, "runs");
	const isThere = (): boolean =>
		existsSync(folder) && readdirSync(folder).some((run) => existsSync(join(folder, run, "process.json")));
	while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
}

it("runs adjust changes a run of another process, which would take minutes at its rate", async () => {
	const { env, argv, state } = await world();
	const run = start(["docs", "tag", ...argv, "--rate", "0.1", "--json"], env);
	await isGoingOn(state);
	const changed = await program(["runs", "adjust", "--rate", "unlimited"], env);
	expect(changed).toMatchObject({
		exit: 0,
		stdout: expect.stringMatching(/^Run \S+: rate 0.1 → unlimited, not paused.\n$/),
	});
	const ended = await run.ended;
	expect(ended.exit).toBe(0);
	expect(summaryOf(ended.stdout)).toMatchObject({ updated: 3, adjusted: [{ rate: "unlimited", by: "runs adjust" }] });
	expect((await program(["runs", "adjust", "--pause"], env)).exit).toBe(2);
});
