import { readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { openPlan } from "../../../src/workflows/plan/open-plan.ts";
import { Exit } from "../../../src/errors.ts";
import { folder } from "../../support/service.ts";

const MEBIBYTE = 1024 * 1024;

it("a plan that never ends a line is refused before it fills the disk", async () => {
	let given = 0;
	async function* endless(): AsyncGenerator<Uint8Array> {
		for (; given < 200; given += 1) yield Buffer.alloc(MEBIBYTE, "x");
	}
	const temporaryFolder = await folder();
	const options = { temporaryFolder, actions: ["update"] } as const;
	await expect(openPlan("-", { ...options, stdin: endless() })).rejects.toMatchObject({
		exit: Exit.foreign,
		message: expect.stringContaining("has a line of more than 33554432 bytes"),
	});
	expect(given).toBeLessThan(40);
	await expect(openPlan("/dev/zero", { ...options, stdin: endless() })).rejects.toMatchObject({ exit: Exit.usage });
	expect(await readdir(temporaryFolder)).toEqual([]);
});
