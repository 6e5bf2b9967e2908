import type { Command } from "commander";
import type { App } from "../app.ts";
import { CliError, Exit, reason } from "../errors.ts";
import type { Done } from "../flags/declare.ts";
import { printVersionLine } from "../workflows/version-line.ts";
import { topics } from "./help-topics.ts";
import { packageText } from "./package-files.ts";

type HelpOptions = { readonly json?: boolean; readonly manPages?: string };

/** The pages of `docs/` that `ragtag help` prints. */
export const pages = [
	"install",
	"servers",
	"runs",
	"manifests",
	"review-and-undo",
	"settings",
	"sandbox",
	"json",
	"troubleshooting",
	"reliability",
	"faults",
	"security",
	"limits",
	"outputs",
	"ci",
	"cron",
	"many-machines",
	"performance",
	"requests",
] as const;

/** The words that may follow `help`, besides commands. */
export function topicsForCompletion(): { readonly value: string; readonly description: string }[] {
	const tables = [...topics.keys()].map((value) => ({ value, description: "table" }));
	return [...tables, ...pages.map((value) => ({ value, description: "page of the documentation" }))];
}

/**
 * `help`, `help COMMAND...`, the tables that scripts rely on (`help exit-codes / environment / manifest`), and the pages
 * of `docs/`. A word that is a page and a command, such as `runs`, is the page: `runs --help` has the other.
 */
export function helpCommand(program: Command, app: App, done: Done): void {
	const { io } = app;
	program
		.command("help")
		.summary("print the help of a command, a table, or a page of the documentation")
		.argument("[words...]", "a command, a table or a page")
		.option("--json", "every command with its options, choices, defaults and examples, and the exit codes")
		.option("--man-pages <dir>", "write the manual page of each command into this folder")
		.addHelpText("after", `\n${topicList()}`)
		.action(async (words: string[], { json = false, manPages }: HelpOptions) => {
			if (manPages !== undefined) {
				if (json || words.length > 0)
					throw new CliError("help --man-pages writes all pages; it takes no words and no --json", {
						exit: Exit.usage,
					});
				const [{ helpTree }, { writeManPages }] = [await import("./help-tree.ts"), await import("./man-pages.ts")];
				const commands = helpTree(program).commands.map(({ command }) => command);
				io.note(`${await writeManPages(commands, manPages)} manual pages were written to ${manPages}`);
				return done(Exit.ok);
			}
			if (json) {
				if (words.length > 0)
					throw new CliError("help --json prints the whole tree; it takes no words", { exit: Exit.usage });
				const { helpTree } = await import("./help-tree.ts");
				await printVersionLine(app);
				await io.out(`${JSON.stringify(helpTree(program))}\n`);
				return done(Exit.ok);
			}
			const [word] = words;
			const topic = word === undefined ? undefined : topics.get(word);
			if (topic !== undefined) {
				await io.out(topic);
				return done(Exit.ok);
			}
			const page = words.length === 1 ? pages.find((name) => name === word) : undefined;
			if (page !== undefined) {
				await io.out(await pageText(page));
				if (program.commands.some((command) => command.name() === page)) {
					io.note(`The options of the command: ragtag ${page} --help`);
				}
				return done(Exit.ok);
			}
			let found = program;
			for (const name of words) {
				const next = found.commands.find((command) => command.name() === name);
				if (next === undefined)
					throw new CliError(`no help for ${name}`, {
						exit: Exit.usage,
						hint: "Type `ragtag help` for all commands, tables and pages.",
					});
				found = next;
			}
			// With its examples, which the bare text of the help does not have.
			found.outputHelp();
			if (words.length === 0) await io.out(`\n${topicList()}`);
			return done(Exit.ok);
		});
}

function topicList(): string {
	const lines = (words: readonly string[]): string => words.map((word) => `  ragtag help ${word}\n`).join("");
	return `Tables:\n${lines([...topics.keys()])}\nPages:\n${lines(pages)}`;
}

/**
 * A page as it is in the package.
 *
 * @throws CliError exit 1 where the package was installed without its documents
 */
export async function pageText(name: string, folder?: URL): Promise<string> {
	try {
		return await packageText(`docs/${name}.md`, folder);
	} catch (error) {
		throw new CliError(`the page ${name} can't be read: ${reason(error)}`, {
			exit: Exit.failedRows,
			hint: `It is docs/${name}.md of the package ragtag-cli and of the project's repository.`,
			cause: error,
		});
	}
}
