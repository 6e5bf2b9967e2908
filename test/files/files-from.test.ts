import { expect, it } from "vitest";
import { file } from "../support/service.ts";
import { readFilesFrom } from "../../src/files/files-from.ts";

async function* bytes(text: string) {
	yield Buffer.from(text);
}

it.each([
	["a.pdf\nhr/b c.pdf\n\n", false, ["a.pdf", "hr/b c.pdf"]],
	["\ufeffa.pdf\r\nb.pdf\r\n", false, ["a.pdf", "b.pdf"]],
	["a\nb.pdf\0c.pdf\0", true, ["a\nb.pdf", "c.pdf"]],
	["", false, []],
] as const)("reads the paths of %j", async (text, isNul, paths) => {
	expect(await readFilesFrom("-", isNul, bytes(text))).toEqual(paths);
	expect(await readFilesFrom(await file("list", text), isNul, bytes(""))).toEqual(paths);
});

it("refuses what is no list of paths: half of it would be uploaded", async () => {
	await expect(readFilesFrom("-", false, bytes("a.pdf\0b.pdf\0"))).rejects.toThrow("add -0");
	await expect(readFilesFrom("/nowhere/list", false, bytes(""))).rejects.toThrow("no such file");
	const latin = (async function* () {
		yield Buffer.from([0x61, 0xe9]);
	})();
	await expect(readFilesFrom("-", false, latin)).rejects.toThrow("no text in UTF-8");
});
