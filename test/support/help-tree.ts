import { ragtag } from "./ragtag.ts";
import { at, items, parseLines } from "./values.ts";

/** The entries of `ragtag help --json`, a command each; the first is the program. */
export async function helpEntries(): Promise<readonly unknown[]> {
	const { stdout } = await ragtag(["help", "--json"], { home: "/nonexistent" });
	return items(at(parseLines(stdout)[1], "commands"));
}

/** The long names of the options of each command. */
export async function optionsByCommand(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
	const flagsOf = (entry: unknown): Set<string> =>
		new Set(items(at(entry, "options")).map((option) => String(at(option, "flag"))));
	return new Map((await helpEntries()).map((entry) => [String(at(entry, "command")), flagsOf(entry)]));
}
