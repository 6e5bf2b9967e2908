import { chmod, link, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { failedWriter } from "../../../src/workflows/rows/failed-rows.ts";
import { recorded, refuseAt, tagging } from "../../support/recorded.ts";
import { folder } from "../../support/service.ts";

const mode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

/** Why a failed row could not be written to that file; undefined where it was. */
const written = async (path: string): Promise<string | undefined> => {
	const writer = failedWriter(path, { ending: "csv", head: "a\n", row: () => "1\n" });
	await writer.add({ text: "" }, { line: 1, code: "HTTP_500", text: "no", attempts: 1 });
	return (await writer.close())?.failure;
};

/** A run whose second row fails. */
const failing = async () => {
	const world = await recorded(3, refuseAt(2));
	return { ...world, ...(await tagging(world)) };
};

it("a link in place of the failed-rows file is refused, and what it leads to stays as it is", async () => {
	const world = await failing();
	const place = await folder();
	const precious = join(place, "precious");
	await writeFile(precious, "mine");
	await symlink(precious, join(place, "failed.csv"));
	await symlink(join(place, "nothing"), join(place, "dangling.csv"));
	for (const name of ["failed.csv", "dangling.csv"]) {
		await says(world.run([...world.argv, "--failed", join(place, name)]), 2, "is a link to another file");
	}
	expect(await readFile(precious, "utf8")).toBe("mine");
	expect(world.service.requests).toEqual([]);
	expect(await written(join(place, "failed.csv"))).toContain("is a link");
});

it("a failed-rows file that others could read is closed to them when it is written anew", async () => {
	const world = await failing();
	const path = join(await folder(), "failed.csv");
	await writeFile(path, "what was there before, and is longer than what comes".repeat(20));
	await chmod(path, 0o666);
	expect((await world.run([...world.argv, "--failed", path])).exit).toBe(1);
	expect(await mode(path)).toBe("600");
	const text = await readFile(path, "utf8");
	expect(text.trimEnd().split("\n")).toHaveLength(2);
	expect(text).not.toContain("what was there before");
});

it("a folder is refused as the failed-rows file, and a device of the system is accepted", async () => {
	const world = await failing();
	const place = join(await folder(), "failed.csv");
	await mkdir(place);
	await says(world.run([...world.argv, "--failed", place]), 2, "is a folder; nothing was sent");
	expect(await written("/dev/null")).toBeUndefined();
});

it("another name of the manifest is refused as the failed-rows file: writing it would empty the manifest", async () => {
	const world = await failing();
	const manifest = world.argv.find((word) => word.endsWith(".csv")) ?? "";
	const other = join(await folder(), "failed.csv");
	await link(manifest, other);
	for (const failed of [manifest, other]) {
		await says(world.run([...world.argv, "--failed", failed]), 2, "is also the file of the argument");
	}
	expect(world.service.requests).toEqual([]);
});
