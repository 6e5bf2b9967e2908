import { printVersionLine } from "../workflows/report.ts";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getAsset, isSea } from "node:sea";
import type { Command } from "commander";
import type { App } from "../app.ts";
import { CliError, Exit, reason, usageError } from "../errors.ts";
import { declare, Flag, toggle, type ValuesOf } from "../flags/declare.ts";
import { quoted } from "../flags/next-command.ts";
import { show } from "../text/show.ts";
import { tables } from "./help-topics.ts";
import type { HelpTree } from "./help-tree.ts";

const OPTIONS_OF_HELP = {
	search: new Flag<readonly string[]>(
		"--search <words...>",
		"find words in all pages, tables and commands; words that mean the same count too",
	),
	json: toggle(
		"--json",
		"every command with its options, choices, defaults and examples, and the exit codes; with --search: what was found",
	),
	manPages: new Flag<string>("--man-pages <dir>", "write the manual page of each command into this folder"),
};

type HelpOptions = ValuesOf<typeof OPTIONS_OF_HELP> & { readonly words: readonly string[] };

/** Answers of a search that are printed, and characters of a line. */
const MOST_HITS = 8;
const LONGEST_LINE = 160;

/** The pages of `docs/` that `ragtag help` prints. */
export const pages =
	"folder-and-list install servers runs manifests recipes sync backup review-and-undo settings sandbox json troubleshooting reliability faults security limits outputs ci cron many-machines performance requests stability".split(
		" ",
	);

/** The word for the options that every command takes: they stand in no other help. */
const OPTIONS = "options";

/** All that `help` can print by one word. */
export const TOPICS: readonly Topic[] = [
	...[...tables.keys(), OPTIONS].map((name) => ({ name, kind: "table" }) as const),
	...pages.map((name) => ({ name, kind: "page of the documentation" }) as const),
];

type Topic = { readonly name: string; readonly kind: "table" | "page of the documentation" };

const TOPIC_LIST = `Tables and pages, as in ragtag help exit-codes:\n${TOPICS.map(({ name }) => name)
	.join(" ")
	.replace(/(.{1,76})(?: |$)/g, "  $1\n")}`;

async function textOf({ name, kind }: Topic, program: Command): Promise<string> {
	return kind === "table" ? (tables.get(name) ?? optionsTable(program)) : pageText(name);
}

function optionsTable(program: Command): string {
	const help = program.createHelp();
	const options = help.visibleOptions(program).filter(({ long }) => long !== "--help");
	const width = Math.max(...options.map((option) => help.optionTerm(option).length));
	const lines = options.map((option) =>
		help.formatItem(help.optionTerm(option), width, help.optionDescription(option), help),
	);
	return `Options of every command. Each may stand before or after its words:\n\n${lines.join("\n")}\n`;
}

/** The help of a command, the tables that scripts rely on, and the pages of `docs/`. */
export const helpCommand = declare({
	arguments: { "[words...]": "a command, a table or a page" },
	options: OPTIONS_OF_HELP,
	rules: [
		["--man-pages", "excludes", "--json or --search"],
		["WORDS", "excludes", "--search or --json or --man-pages", "Type: ragtag help --search WORDS"],
	],
	after: `\n${TOPIC_LIST}`,
	run: async (options, app, command) => {
		await help(options, command.parent ?? command, app);
		return Exit.ok;
	},
});

async function help({ words, json = false, manPages, search }: HelpOptions, program: Command, app: App): Promise<void> {
	const { io } = app;
	if (search !== undefined) return await find(search.join(" "), json, program, app);
	if (manPages !== undefined || json) {
		const { helpTree } = await import("./help-tree.ts");
		const tree = helpTree(program);
		if (manPages !== undefined) return await writeManPages(tree, manPages, app);
		await printVersionLine(app);
		return await io.out(`${JSON.stringify(tree)}\n`);
	}
	const topic = words.length === 1 ? TOPICS.find(({ name }) => name === words[0]) : undefined;
	if (topic !== undefined) {
		const text = await textOf(topic, program);
		await (topic.kind === "table" ? io.out(text) : printPage(text, app));
		// A word that is also a command, such as `runs`, is the page.
		if (program.commands.some((command) => command.name() === topic.name)) {
			io.note(`The options of the command: ragtag ${topic.name} --help`);
		}
		return;
	}
	let found = program;
	for (const name of words) {
		const next = found.commands.find((command) => command.name() === name);
		if (next === undefined) {
			throw usageError(
				`no help for ${name}`,
				`Type \`ragtag help\` for all commands, tables and pages, or: ragtag help --search ${quoted(words.join(" "))}`,
			);
		}
		found = next;
	}
	// With its examples, which the bare text of the help does not have.
	found.outputHelp();
	if (words.length === 0) await io.out(`\n${TOPIC_LIST}`);
}

/** A pipe gets the Markdown, unchanged. */
async function printPage(text: string, app: App): Promise<void> {
	if (!app.io.stdoutIsTerminal) return await app.io.out(text);
	const { showPage } = await import("./pager.ts");
	await showPage(text, app);
}

/** @throws CliError exit 1 where nothing is found */
async function find(question: string, json: boolean, program: Command, app: App): Promise<void> {
	const { commandEntries, pageEntry, searchHelp, tableEntry } = await import("./help-search.ts");
	const { helpTree } = await import("./help-tree.ts");
	const topics = TOPICS.map(async (topic) => {
		const entry = topic.kind === "table" ? tableEntry : pageEntry;
		return entry(topic.name, await textOf(topic, program));
	});
	const entries = [...(await Promise.all(topics)), ...commandEntries(helpTree(program))];
	const hits = searchHelp(entries, question).slice(0, MOST_HITS);
	if (hits.length === 0) {
		throw new CliError(`nothing in the manual has ${quoted(question)}`, {
			exit: Exit.failedRows,
			hint: "Try fewer or other words, or type `ragtag help` for all commands, tables and pages.",
		});
	}
	if (json) await printVersionLine(app);
	for (const { name, heading, line } of hits) {
		const open = `ragtag help ${name}`;
		await app.io.out(
			json
				? `${JSON.stringify({ type: "hit", name, heading, line, open })}\n`
				: `${open}\n  ${heading === line || heading === "" ? "" : `${heading}: `}${show(line, LONGEST_LINE)}\n`,
		);
	}
}

/**
 * Writes the manual pages into an existing folder. npm installs them by itself; the executable brings them inside.
 *
 * @throws CliError exit 1 where the build has no pages, exit 74 where one can't be written
 */
async function writeManPages({ commands }: HelpTree, folder: string, { io }: App): Promise<void> {
	for (const { command } of commands) {
		const name = `${["ragtag", ...command.split(" ").filter((word) => word !== "")].join("-")}.1`;
		const text = await packageText(`dist/man/${name}`, `manual page ${name}`, "npm run build makes the manual pages.");
		await writeFile(join(folder, name), text).catch((error: unknown) => {
			throw new CliError(`${join(folder, name)}: ${reason(error)}`, {
				exit: Exit.output,
				hint: `Create the folder first: mkdir -p ${folder}`,
				cause: error,
			});
		});
	}
	io.note(`${commands.length} manual pages were written to ${folder}`);
}

/**
 * A page as it is in the package.
 *
 * @throws CliError exit 1 where the package was installed without its documents
 */
export function pageText(name: string, folder?: URL): Promise<string> {
	const hint = `It is docs/${name}.md of the package ragtag-cli and of the project's repository.`;
	return packageText(`docs/${name}.md`, `page ${name}`, hint, folder);
}

/** The package's folder: as far from this file as from `dist/bin` and `dist/parts`. */
const FOLDER = new URL("../../", import.meta.url);

/**
 * The text of a file of the package. The executable holds these files as assets, under the same names.
 *
 * @param path below the package's folder, as `docs/runs.md`
 * @throws CliError exit 1 where it can't be read
 */
async function packageText(path: string, what: string, hint: string, folder = FOLDER): Promise<string> {
	try {
		return isSea() ? getAsset(path, "utf8") : await readFile(new URL(path, folder), "utf8");
	} catch (error) {
		throw new CliError(`the ${what} can't be read: ${reason(error)}`, { exit: Exit.failedRows, hint, cause: error });
	}
}
