import { join } from "node:path";
import { expect, test } from "vitest";
import { startSandbox } from "../../../src/sandbox/index.ts";
import * as by from "../support.ts";
import { names, releases, serve, stored, update } from "./support.ts";

test("one file is served by every flavour in turn, and keeps the metadata that each stored", async () => {
	const data = join(await by.folder(), "data.db");
	let before: string | undefined;
	for (const flavour of ["documented", ...releases] as const) {
		const sandbox = await by.start({ flavour, data, documents: 1 });
		const place = { sandbox, dataset: sandbox.datasetId ?? "", ids: ["0".repeat(31) + "1"] };
		if (before !== undefined) expect((await by.list(sandbox, place.dataset)).text).toContain(`"by":"${before}"`);
		expect((await update(place, flavour, `{"by":"${flavour}"}`)).code).toBe(0);
		before = flavour;
		await sandbox.close();
	}
});

test("a sandbox that becomes another release answers as it at once, over the same data", async () => {
	const place = await serve("ragflow-0.24");
	await update(place, "ragflow-0.24", '{"author":"Ana"}');
	place.sandbox.become("ragflow-0.25");
	const late = await update(place, "ragflow-0.24", '{"author":"Ben"}');
	expect([late.code, late.message]).toEqual([100, expect.stringContaining("405")]);
	expect(await stored(place)).toBe('{"author":"Ana"}');
	expect((await update(place, "ragflow-0.25", '{"author":"Ben"}')).code).toBe(0);
	place.sandbox.become("documented");
	const listed = await by.list(place.sandbox, place.dataset);
	expect(listed.data).toMatchObject({ total: 1, docs: [{ meta_fields: { author: "Ben" } }] });
	expect(listed.message).toBe("Success");
});

test("an upgrade happens after so many applied updates; refused updates do not count", async () => {
	const place = await serve("ragflow-0.24", ["a.txt"], { upgrade: { to: "ragflow-0.25", after: 2 } });
	const put = async (metadata: string): Promise<unknown> => (await update(place, "ragflow-0.24", metadata)).code;
	expect([await put('{"n":1}'), await put("[]"), await put('{"n":2}'), await put('{"n":3}')]).toEqual([0, 102, 0, 100]);
	expect(await stored(place)).toBe('{"n":2}');
});

test("the documented API can be upgraded to a release", async () => {
	const upgrade = { to: "ragflow-0.18", after: 1 } as const;
	const place = await serve("documented", ["a.txt"], { upgrade });
	expect((await update(place, "documented", "{}")).message).toBe("Success");
	expect(await names(place)).toEqual(["a.txt"]);
	expect((await update(place, "ragflow-0.18", "{}")).text).toBe('{"code":0}');
});

test("the documented API refuses a member's key, which can't be equal to the owner's", async () => {
	const { sandbox } = await serve("documented", [], { memberKey: "member-key" });
	expect((await by.send(sandbox, "GET", "/api/v1/datasets", { key: "member-key" })).status).toBe(401);
	await expect(startSandbox({ port: 0, key: "one", memberKey: "one" })).rejects.toThrow("the same");
	await expect(startSandbox({ port: 0, memberKey: "two words" })).rejects.toThrow("The sandbox's key");
	await expect(startSandbox({ port: 0, upgrade: { to: "documented", after: 0 } })).rejects.toThrow("upgrade");
});
