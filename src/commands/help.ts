import type { Command } from "commander";
import type { App } from "../app.ts";
import { CliError, Exit } from "../errors.ts";
import type { Done } from "../flags/declare.ts";
import { topics } from "./help/help-topics.ts";
import { pages, pageText } from "./help/pages.ts";

/** What may follow `help`, beside commands. */
export const helpTopics: readonly string[] = [...topics.keys(), ...pages];

/**
 * `help`, `help COMMAND...`, the tables that scripts rely on (`help exit-codes / environment / manifest`), and the pages
 * of `docs/`. A word that is a page and a command, such as `runs`, is the page: `runs --help` has the other.
 */
export function helpCommand(program: Command, { io }: App, done: Done): void {
	program
		.command("help")
		.summary("help of a command, a table, or a page of the documentation")
		.argument("[words...]", "a command, a table or a page")
		.addHelpText("after", `\n${topicList()}`)
		.action(async (words: string[]) => {
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
						hint: "Type `ragtag help` for what there is.",
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
