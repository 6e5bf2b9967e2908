// Counts what a reader of the program must hold in the head, and prints it beside the goals.
//
//   npm run house [-- --way] [-- --unused]
//
// `--way` also prints each call from `docs tag` to undici, `--unused` each export without an importer.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runOfTag } from "./house/run.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { values: wanted } = parseArgs({ options: { way: { type: "boolean" }, unused: { type: "boolean" } } });

// As git knows them, and only those that are there: a moved file is named twice until it is committed.
const paths = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" })
	.split("\n")
	.filter((path) => /\.(?:ts|mjs|md)$/.test(path) && existsSync(join(ROOT, path)));
const texts = new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
const under = (...folders) =>
	paths.filter((path) => path.endsWith(".ts") && folders.some((folder) => path.startsWith(folder)));
const linesOf = (files) => files.reduce((sum, path) => sum + texts.get(path).split("\n").length - 1, 0);

const all = under("bin/", "src/");
const program = all.filter((path) => !path.startsWith("src/sandbox/"));
const tests = under("test/");
const unused = unusedExports(program);
const tag = await runOfTag(all.filter((path) => !path.endsWith(".d.ts")));
const answers = answersOf(texts.get("ARCHITECTURE.md"));

const TABLE = [
	["lines of src and bin, without the sandbox", linesOf(program), "39,500"],
	["files of src and bin, without the sandbox", program.length, "350"],
	["of these lines, comments", `${((100 * commentsOf(program)) / linesOf(program)).toFixed(1)} %`, "13 % or more"],
	["lines of the sandbox", linesOf(all) - linesOf(program), ""],
	["lines of tests", linesOf(tests), "42,000"],
	["calls and files from `tag` to undici", `${tag.way.calls} in ${tag.way.files}`, "16 in 9"],
	["functions and files that a two-row `docs tag` runs", `${tag.functions} in ${tag.files}`, "700 in 140"],
	["files from a 429 to its wait", answers.get("Where is a 429 turned into a wait?"), "4"],
	["files of a resume after a kill", answers.get("How does a resume after a kill begin?"), "8"],
	["places where a row may wait before it is sent", answers.get("Where may a row wait before it is sent?"), "5"],
	["files that say what a document has", answers.get("What does this document have?"), "1"],
	["exports without an importer", unused.length, "0"],
	["options in `docs tag -h`", optionsOfTag(), "15"],
];

console.log("| | now | goal |\n|---|---|---|");
for (const [name, value, goal] of TABLE) {
	console.log(
		`| ${name} | ${typeof value === "number" ? value.toLocaleString("en-US") : (value ?? "not said")} | ${goal} |`,
	);
}
if (wanted.way) console.log(`\n${tag.way.links.join("\n")}`);
if (wanted.unused) console.log(`\n${unused.join("\n")}`);
// The report of V8 names some handles that the sandbox leaves.
process.exit();

/** Lines that hold only a comment, or part of one. */
function commentsOf(files) {
	let count = 0;
	for (const path of files) {
		let isOpen = false;
		for (const line of texts.get(path).split("\n")) {
			const text = line.trim();
			if (!isOpen && !text.startsWith("//") && !text.startsWith("/*")) continue;
			count += 1;
			if (isOpen || text.startsWith("/*")) isOpen = !text.endsWith("*/");
		}
	}
	return count;
}

/** Exports that no other file of the program, its scripts or its measurements imports. A test is no reason for an export. */
function unusedExports(files) {
	const used = new Set();
	const readers = [...files, ...paths.filter((path) => /^(?:src\/sandbox|scripts|bench)\//.test(path))];
	for (const path of readers) {
		for (const [, names, from] of texts
			.get(path)
			.matchAll(/(?:import|export)\s+(?:type\s+)?(?:\w+,\s*)?\{([^}]*)\}\s*from\s+"(\.[^"]*)"/g)) {
			for (const name of names.split(","))
				used.add(
					`${resolved(path, from)} ${
						name
							.replace(/^\s*type\s+/, "")
							.trim()
							.split(/\s+as\s+/)[0]
					}`,
				);
		}
		// Loaded late: its names are taken from the module, by a pattern or as members.
		for (const [, from] of texts.get(path).matchAll(/import\("(\.[^"]*)"\)/g)) used.add(`${resolved(path, from)} *`);
		for (const [, from] of texts.get(path).matchAll(/import\s+\*\s+as\s+\w+\s+from\s+"(\.[^"]*)"/g))
			used.add(`${resolved(path, from)} *`);
	}
	return files.flatMap((path) => {
		if (used.has(`${path} *`)) return [];
		const names = [
			...texts
				.get(path)
				.matchAll(
					/^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|type|interface|enum)\s+(\w+)/gm,
				),
		];
		return names.map(([, name]) => `${path} ${name}`).filter((each) => !used.has(each));
	});
}

function resolved(path, from) {
	return normalize(join(path, "..", from));
}

/** The counted questions of ARCHITECTURE.md, which its test holds to the files that it names. */
function answersOf(page) {
	return new Map(
		[...page.matchAll(/^\| (.+\?) \| (\d+) \|/gm)].map(([, question, count]) => [question, Number(count)]),
	);
}

function optionsOfTag() {
	const words = [join(ROOT, "dist/bin/ragtag.js"), "docs", "tag", "-h"];
	const help = execFileSync(process.execPath, words, { encoding: "utf8" });
	return `${(help.match(/^ {2}-/gm) ?? []).length} in ${help.split("\n").length - 1} lines`;
}
