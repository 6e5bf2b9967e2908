import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Words that name a file or a folder: with a slash, or with the ending of a file that the repository keeps. */
const WORD = /[\w.-]*[\w-](?:\/[\w.-]+)*\/?/g;
const FILE = /\.(?:ts|json|md|txt|mjs|sh)$/;
/** A row about one folder, or more: names in it are of the first. */
const ROW = /^\| `(src\/[\w/-]+)`/;

type Path = { readonly line: number; readonly path: string; readonly isThere: boolean };

/** The paths that a page names: from the root, or from the folder that their row names. */
function pathsOf(page: string, exists: (path: string) => boolean): Path[] {
	const paths: Path[] = [];
	for (const [index, line] of page.split("\n").entries()) {
		const folder = ROW.exec(line)?.[1] ?? "";
		for (const [word] of line.matchAll(WORD)) {
			if (!word.includes("/") && !FILE.test(word)) continue;
			// The folder of the row first: `docs/` is another one below `src/commands` than at the root.
			const path = [join(folder, word), word].find((each) => exists(each)) ?? join(folder, word);
			paths.push({ line: index + 1, path: path.replace(/\/$/, ""), isThere: exists(path) });
		}
	}
	return paths;
}

/** What a page counts, and how many files it lists there. */
function countsOf(page: string): { readonly what: string; readonly said: number; readonly listed: number }[] {
	return [...page.matchAll(/^\| (.+\?) \| (\d+) \| ([^|]+) \|/gm)].map(([, what = "", said, open = ""]) => ({
		what,
		said: Number(said),
		listed: new Set(open.match(/`(?:src|bin)\/[^`]+`/g)).size,
	}));
}

async function foldersOfSource(): Promise<string[]> {
	const folders: string[] = [];
	for (const first of await readdir(join(ROOT, "src"), { withFileTypes: true })) {
		if (!first.isDirectory()) continue;
		folders.push(`src/${first.name}`);
		for (const second of await readdir(join(ROOT, "src", first.name), { withFileTypes: true })) {
			if (second.isDirectory()) folders.push(`src/${first.name}/${second.name}`);
		}
	}
	return folders;
}

const page = await readFile(join(ROOT, "ARCHITECTURE.md"), "utf8");
const inTree = (path: string): boolean => existsSync(join(ROOT, path));

describe("ARCHITECTURE.md", () => {
	it("names no file and no folder that is not there: a reader would search for it in vain", () => {
		const paths = pathsOf(page, inTree);

		expect(paths.length).toBeGreaterThan(150);
		expect(paths.filter(({ isThere }) => !isThere).map(({ line, path }) => `line ${line}: ${path}`)).toEqual([]);
	});

	it("mentions every folder of the first two levels of src", async () => {
		const named = new Set(pathsOf(page, inTree).map(({ path }) => path));
		const folders = await foldersOfSource();

		expect(folders.length).toBeGreaterThan(40);
		expect(folders.filter((folder) => !named.has(folder))).toEqual([]);
	});

	it("counts the files that it lists, for each question and each thing to add", () => {
		const counts = countsOf(page);

		expect(counts.length).toBeGreaterThanOrEqual(12 + 8);
		expect(counts.filter(({ said, listed }) => said !== listed)).toEqual([]);
	});

	it("gives each folder of src a row with an invariant in bold", async () => {
		const folders = (await foldersOfSource()).filter((folder) => folder.split("/").length === 2);
		const rows = page.split("\n").filter((line) => /\*\*.+\*\*/.test(line));

		expect(
			folders.filter((folder) => !rows.some((row) => row.split(" | ")[0]?.includes(`\`${folder}\``) === true)),
		).toEqual([]);
	});

	it("would be refused for a path that is wrong, in the row of a folder too", () => {
		const wrong = "See `src/gone.ts`.\n| `src/run` | `rate/limiter.ts`, `rate/gone.ts` and `attic/` |\n";

		expect(pathsOf(wrong, inTree)).toEqual([
			{ line: 1, path: "src/gone.ts", isThere: false },
			{ line: 2, path: "src/run", isThere: true },
			{ line: 2, path: "src/run/rate/limiter.ts", isThere: true },
			{ line: 2, path: "src/run/rate/gone.ts", isThere: false },
			{ line: 2, path: "src/run/attic", isThere: false },
		]);
	});
});
