import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { program } from "../support/program.ts";
import { folder } from "../support/service.ts";
import { at, items, parse } from "../support/values.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function hasMandoc(): boolean {
	try {
		execFileSync("sh", ["-c", "command -v mandoc"], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

/** The pages that the program brings, in a new folder. */
async function written(): Promise<string> {
	const path = await folder();
	const { exit, stderr } = await program(["help", "--man-pages", path]);
	expect([exit, stderr]).toEqual([0, expect.stringMatching(/^\d+ manual pages were written to /)]);
	return path;
}

describe("manual pages", () => {
	it("exist for each command and are named in package.json, or npm would not install them", async () => {
		const pages = (await readdir(await written())).toSorted();
		const tree = parse((await program(["help", "--json"])).stdout.trimEnd().split("\n")[1] ?? "");
		const commands = items(at(tree, "commands")).map((one) => String(at(one, "command")));
		const names = commands.map((command) => `${["ragtag", ...command.split(" ").filter(Boolean)].join("-")}.1`);
		expect(pages).toEqual(names.toSorted());
		const listed = items(at(parse(await readFile(join(ROOT, "package.json"), "utf8")), "man"));
		expect(listed).toEqual(pages.map((page) => `dist/man/${page}`));
	});

	it("a folder that is missing is named, and nothing else is written", async () => {
		const path = join(await folder(), "man1");
		const { exit, stderr } = await program(["help", "--man-pages", path]);
		expect([exit, stderr]).toEqual([
			74,
			`ragtag: ${join(path, "ragtag.1")}: no such file or directory\nCreate the folder first: mkdir -p ${path}\n`,
		]);
	});

	it.skipIf(!hasMandoc())("have no format errors and show a line unchanged (skipped without mandoc)", async () => {
		const path = await written();
		const pages = (await readdir(path)).map((page) => join(path, page));
		const lint = execFileSync("sh", ["-c", 'mandoc -Tlint -Wwarning "$@" || true', "sh", ...pages], {
			encoding: "utf8",
		});
		// The pages carry a version and no date: a build of the same commit is the same, whenever it is made.
		expect(lint.split("\n").filter((line) => line !== "" && !line.includes("missing date"))).toEqual([]);
		const shown = execFileSync("mandoc", ["-Tutf8", join(path, "ragtag-docs-tag.1")], { encoding: "utf8" });
		// What mandoc makes bold is a letter, a backspace and the letter again.
		const text = shown.split("\b").reduce((text, part) => `${text.slice(0, -1)}${part}`);
		expect(text).toContain(
			"ragtag docs tag ids.csv --mode merge --set draft='!delete' --set 'topics:list=+travel|-news'",
		);
		expect(text).toMatch(/--mode mode\n +merge keeps/);
	});
});
