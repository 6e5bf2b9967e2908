import { readdir, readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { pages, pageText } from "../../../src/commands/help.ts";
import { ragtag } from "../../support/ragtag.ts";
import { folder } from "../../support/service.ts";

const DOCS = new URL("../../../docs/", import.meta.url);

describe("help", () => {
	it.each(pages)("help %s prints the page unchanged", async (page) => {
		const { exit, stdout } = await ragtag(["help", page]);
		expect([exit, stdout]).toEqual([0, await readFile(new URL(`${page}.md`, DOCS), "utf8")]);
	});

	it("has each page of docs/: a page that it lacks is found by no search", async () => {
		const files = (await readdir(DOCS)).filter((name) => name.endsWith(".md"));
		expect(pages.map((page) => `${page}.md`).toSorted()).toEqual(files.toSorted());
	});

	it("a missing page is an error that says where to read it", async () => {
		const empty = pathToFileURL(`${await folder()}/`);
		await expect(pageText("runs", empty)).rejects.toMatchObject({
			exit: 1,
			message: "the page runs can't be read: no such file or directory",
			hint: "It is docs/runs.md of the package ragtag-cli and of the project's repository.",
		});
	});

	it("a page of a command's name says how to see the command's options, and the words of a command are its help", async () => {
		expect((await ragtag(["help", "runs"])).stderr).toBe("The options of the command: ragtag runs --help\n");
		expect((await ragtag(["help", "limits"])).stderr).toBe("");
		expect((await ragtag(["help", "runs", "undo"])).stdout).toContain("Usage: ragtag runs undo");
	});

	it("help alone lists every table and page, and completion offers them", async () => {
		const { stdout } = await ragtag(["help"]);
		const offered = (await ragtag(["__complete", "help", ""])).stdout.split("\n").map((line) => line.split("\t")[0]);
		for (const topic of ["exit-codes", "environment", "manifest", ...pages]) {
			expect(stdout).toMatch(new RegExp(`^  (?:.* )?${topic}(?: |$)`, "m"));
			expect(offered).toContain(topic);
		}
	});

	it("a word that is neither is refused", async () => {
		const { exit, stderr } = await ragtag(["help", "nothing-such"]);
		expect([exit, stderr]).toEqual([
			2,
			"ragtag: no help for nothing-such\nType `ragtag help` for all commands, tables and pages, or: ragtag help --search nothing-such\n",
		]);
	});
});
