import type { Command } from "commander";
import type { App } from "../app.ts";
import { CliError, Exit } from "../errors.ts";
import type { Done } from "./declare.ts";
import { topics } from "./help/help-topics.ts";

/** `help`, `help COMMAND...`, and the tables that scripts rely on: `help exit-codes / environment / manifest`. */
export function helpCommand(program: Command, { io }: App, done: Done): void {
	program
		.command("help")
		.summary(`help of a command, or a table: ${[...topics.keys()].join(", ")}`)
		.argument("[words...]", "a command or a table")
		.action(async (words: string[]) => {
			const [word] = words;
			const topic = word === undefined ? undefined : topics.get(word);
			if (topic !== undefined) {
				await io.out(topic);
				return done(Exit.ok);
			}
			let found = program;
			for (const name of words) {
				const next = found.commands.find((command) => command.name() === name);
				if (next === undefined)
					throw new CliError(`no help for ${name}`, {
						exit: Exit.usage,
						hint: "Type `ragtag --help` for what there is.",
					});
				found = next;
			}
			// With its examples, which the bare text of the help does not have.
			found.outputHelp();
			return done(Exit.ok);
		});
}
