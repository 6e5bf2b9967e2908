import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { maskPage, withoutBar } from "./mask-page.ts";
import { blocksOf, commandsOf, rewritten, type Typed } from "./page.ts";
import { type } from "./shell.ts";

const ROOT = new URL("../../", import.meta.url);
const PAGES = ["README.md", ...readdirSync(new URL("docs", ROOT)).map((name) => `docs/${name}`)].toSorted();
const textOf = (page: string): string => readFileSync(new URL(page, ROOT), "utf8");

/** The first lines of the blocks of commands that no test types, and why. */
const NOT_TYPED: Readonly<Record<string, readonly (readonly [line: string, why: string])[]>> = {
	"README.md": [
		[
			"npm ci && npm pack && npm install --global ./ragtag-cli-*.tgz",
			"the same as in docs/install.md; test/e2e/sandbox.test.ts starts a program",
		],
		[
			"ragtag manifest check papers/list.xlsx --for upload --map Datei=file -d DATASET",
			"needs 60 files; test/e2e/spreadsheets.test.ts does it",
		],
	],
	"docs/folder-and-list.md": [
		[
			"ragtag manifest check papers/list.xlsx --for upload --map Datei=file -d $DATASET",
			"needs 60 files; test/e2e/spreadsheets.test.ts does it",
		],
	],
	"docs/sync.md": [
		["ragtag docs sync papers -d DATASET --dry-run", "needs a folder; test/commands/sync does it"],
		["ragtag docs sync /srv/papers -d DATASET --remove --parse -q", "the same"],
	],
	"docs/backup.md": [
		["ragtag docs download -d DATASET --out backup", "the documented API has no such call: test/e2e/download.test.ts"],
		["ragtag docs download -d DATASET --out backup --only-changed --force", "the same"],
	],
	"docs/ci.md": [["ragtag runs undo --state-dir state --yes", "test/kits/ci.slow.test.ts does it after the pipeline"]],
	"docs/install.md": [
		["npm pack", "installs a program for all users; npm run test:package does it in a folder"],
		["git clone --branch v0.2.0 REPOSITORY ragtag && cd ragtag", "needs a repository: npm run test:reproducible"],
		["npm run build:binary", "takes Node from npm; npm run test:binary does it"],
		["npm run build:binary && docker build -f packaging/Dockerfile -t ragtag .", "needs a Docker engine"],
		["npm run build:binary -- --downloads https://downloads.example.com/ragtag", "npm run test:binary does it"],
		["echo 'source <(ragtag completion bash)' >> ~/.bashrc", "test/e2e/completion.test.ts does it in each shell"],
		["mkdir -p ~/.local/share/man/man1", "test/e2e/man-pages.test.ts does it; the count grows with each command"],
		["npm uninstall --global ragtag-cli", "removes the program"],
	],
	"docs/many-machines.md": [
		[
			"ragtag docs tag part-1.csv --rate 100 --limiter redis://redis.example.com",
			"needs a Redis that two machines reach",
		],
		["#!/bin/bash", "test/docs/many-machines.slow.test.ts runs it with the variables of an array"],
		[
			"parallel --jobs 8 --tag ragtag docs tag tags.csv --shard {}/8 --resume --rate 12 --state-dir collected/{} ::: {1..8}",
			"test/docs/many-machines.slow.test.ts runs it where GNU parallel is",
		],
		[
			"parallel --sshlogin node1,node2 --jobs 4 --tag --workdir /data ragtag docs tag tags.csv --shard {}/8 --resume --rate 12 ::: {1..8}",
			"needs two machines with ssh",
		],
	],
	"docs/recipes.md": [
		[
			"ragtag manifest from papers --pattern '{category}/{year:number}_{title}.*' --out papers.csv",
			"test/docs/recipes.slow.test.ts runs it, as all of this page",
		],
		[
			"find papers -type f -mtime -30 -print0 | ragtag manifest from -0 --files-from - --facts ext,size --out recent.csv",
			"by the same test",
		],
		["exiftool -csv -r -ext pdf -Title -Author papers > pdf.csv", "by the same test where exiftool is"],
		["echo '$meta-json$' > meta.template", "by the same test where pandoc is"],
		[
			'for file in papers/*.pdf; do java -jar tika-app.jar --json "$file" > "$file.meta.json"; done',
			"Debian has no Tika; the same test runs the rest",
		],
	],
};

/** `RAGTAG_DOCS=write npx vitest run test/docs` puts what the commands print now into the pages. */
const writes = process.env["RAGTAG_DOCS"] === "write";

describe.concurrent("the pages show what their commands print", () => {
	it.each(PAGES.filter((page) => commandsOf(textOf(page)).length > 0))("%s", async (page) => {
		const commands = commandsOf(textOf(page));
		const printed = await type(commands.map(({ command }) => command));
		const shown = (texts: readonly string[]): string =>
			maskPage(
				commands.map(({ command }, index) => `$ ${command}\n${inOneOrder(command, texts[index] ?? "")}`).join(""),
			);
		const expected = shown(commands.map((typed) => typed.printed));
		if (writes && shown(printed) !== expected) return rewrite(page, commands, printed);
		expect(shown(printed)).toBe(expected);
	});
});

/** Rows of a list of documents, sorted: uploads run at the same time, so which was stored first is not certain. */
function inOneOrder(command: string, text: string): string {
	if (!command.startsWith("ragtag docs list ")) return text;
	const [head = "", ...rows] = text.split("\n");
	return [head, ...rows.toSorted()].join("\n");
}

/** All of them: ids of one command are typed into another. */
function rewrite(page: string, commands: readonly Typed[], printed: readonly string[]): void {
	const now = commands.map((typed, index) => [typed, withoutBar(printed[index] ?? "")] as const);
	writeFileSync(new URL(page, ROOT), rewritten(textOf(page), new Map(now)));
	expect(commandsOf(textOf(page)).map(({ command }) => command)).toEqual(commands.map(({ command }) => command));
}

it("README is short enough to be read", () => {
	expect(textOf("README.md").split("\n").length - 1).toBeLessThanOrEqual(150);
});

it.each(PAGES)("%s has no commands that no test types, except those that can't run", (page) => {
	const untyped = blocksOf(textOf(page)).filter(({ fence }) => ["sh", "bash", "shell", ""].includes(fence));
	expect(untyped.map(({ text }) => text.split("\n")[0]?.split("  ")[0])).toEqual(
		(NOT_TYPED[page] ?? []).map(([line]) => line),
	);
});

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string): string =>
	heading
		.toLowerCase()
		.replace(/[^\w\- ]/g, "")
		.replaceAll(" ", "-");

it.each(PAGES)("%s links to files and headings that are there", (page) => {
	const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
	const broken = links.filter(([, path = "", anchor]) => {
		const target = path === "" ? new URL(page, ROOT) : new URL(path, new URL(page, ROOT));
		if (!existsSync(target)) return true;
		const headings = Array.from(readFileSync(target, "utf8").matchAll(/^#+ (.*)$/gm), ([, text = ""]) => text);
		return anchor !== undefined && !headings.map(anchorOf).includes(anchor);
	});
	expect(broken.map(([link]) => link)).toEqual([]);
});
