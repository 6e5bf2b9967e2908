import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { PROGRAM, program } from "../support/program.ts";
import { at, items, parse } from "../support/values.ts";

const FOLDER = join(dirname(dirname(PROGRAM)), "man");
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function hasMandoc(): boolean {
	try {
		execFileSync("sh", ["-c", "command -v mandoc"], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

describe("manual pages", () => {
	it("exist for each command and are named in package.json, or npm would not install them", async () => {
		const pages = (await readdir(FOLDER)).toSorted();
		const tree = parse((await program(["help", "--json"])).stdout.trimEnd().split("\n")[1] ?? "");
		const commands = items(at(tree, "commands")).map((one) => String(at(one, "command")));
		const names = commands.map((command) => `${["ragtag", ...command.split(" ").filter(Boolean)].join("-")}.1`);
		expect(pages).toEqual(names.toSorted());
		const listed = items(at(parse(await readFile(join(ROOT, "package.json"), "utf8")), "man"));
		expect(listed).toEqual(pages.map((page) => `dist/man/${page}`));
	});

	it.skipIf(!hasMandoc())("have no format errors and show a line unchanged (skipped without mandoc)", async () => {
		const pages = (await readdir(FOLDER)).map((page) => join(FOLDER, page));
		const lint = execFileSync("sh", ["-c", 'mandoc -Tlint -Wwarning "$@" || true', "sh", ...pages], {
			encoding: "utf8",
		});
		// The pages carry a version and no date: a build of the same commit is the same, whenever it is made.
		expect(lint.split("\n").filter((line) => line !== "" && !line.includes("missing date"))).toEqual([]);
		const shown = execFileSync("mandoc", ["-Tutf8", join(FOLDER, "ragtag-docs-tag.1")], { encoding: "utf8" });
		// What mandoc makes bold is a letter, a backspace and the letter again.
		const text = shown.split("\b").reduce((text, part) => `${text.slice(0, -1)}${part}`);
		expect(text).toContain(
			"ragtag docs tag ids.csv --mode merge --set draft='!delete' --set 'topics:list=+travel|-news'",
		);
		expect(text).toMatch(/--mode mode\n +replace/);
	});
});
