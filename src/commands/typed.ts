import { Command, CommanderError, type Option } from "commander";
import { Exit } from "../errors.ts";

/** The command that a line names, as far as its words are commands. */
export function typedCommand(program: Command, argv: readonly string[]): Command {
	let command = program;
	// The value of an option may be called as a command is.
	const takesNext = (flag = ""): boolean =>
		optionsOf(command).some(({ long, short, required }) => required && (flag === long || flag === short));
	for (const [at, word] of argv.entries()) {
		if (!takesNext(argv[at - 1])) command = command.commands.find((each) => each.name() === word) ?? command;
	}
	return command;
}

/** `docs tag`; empty for the program itself. */
export function commandName(command: Command): string {
	const names: string[] = [];
	for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
	return names.join(" ");
}

/** The options that a command takes: its own, and those of the program. */
export function optionsOf(command: Command): readonly Option[] {
	const help = Object.assign(command.createHelp(), { showGlobalOptions: true });
	return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

/** What a line gives its command, as far as that is clear where the line is wrong or unfinished. */
export function typedLine(argv: readonly string[], command: Command) {
	const line = new Command();
	const options = new Map(optionsOf(command).map((option) => [option.long, option] as const));
	// No value is judged, and one may be missing.
	for (const { flags } of options.values()) line.option(flags.replace("<", "[").replace(">", "]"));
	const { operands, unknown } = line.parseOptions([...argv]);
	const words = commandName(command).split(" ").filter(Boolean).length;
	// Commander takes all words after an unknown option for unknown ones.
	const others = unknown.filter((word) => word === "-" || !word.startsWith("-"));
	const texts = Object.entries(line.opts<Record<string, unknown>>()).flatMap(([name, value]) =>
		typeof value === "string" && value !== "" ? [[name, value] as const] : [],
	);
	const names = line.options.map((option) => option.attributeName());
	return {
		args: [...operands, ...others].slice(words),
		/** by the names of options: the texts that stand after them, as typed */
		texts: Object.fromEntries(texts),
		/** names of all options that the line has */
		names: new Set(names.filter((name) => line.getOptionValueSource(name) === "cli")),
	};
}

/** `-dryRun` and `-auto-approve`, as programs of Java and Go have them, in the form of this one: `--dry-run`. */
export function longForm(flag: string): string {
	const isLong = /^-[a-z]{2}/i.test(flag);
	return isLong ? `-${flag.replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase()}` : flag;
}

/**
 * The error of an option that the parser would take for something else without a word: `-dry-run` is the dataset "ry-run",
 * `-d=papers` the dataset "=papers", and in `--dataset --dry-run` the dataset is "--dry-run".
 */
export function mistypedOption(argv: readonly string[], command: Command): CommanderError | undefined {
	const options = optionsOf(command);
	let before: Option | undefined;
	for (const word of argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined)) {
		const [flag = ""] = word.split("=");
		if (before !== undefined) {
			if (options.some(({ long }) => long === flag)) {
				const text = `option '${before.flags}' argument missing: ${flag} follows it`;
				return new CommanderError(Exit.usage, "commander.optionMissingArgument", text);
			}
			before = undefined;
			continue;
		}
		before = options.find(({ long, short, required }) => required && (long === word || short === word.slice(0, 2)));
		if (before === undefined || before.long === word || word.length === 2) continue;
		// `-dpapers` is the dataset "papers", as POSIX has it.
		const isAttached = flag.length > 2 && options.every(({ long }) => long !== longForm(flag));
		before = undefined;
		if (isAttached) continue;
		return new CommanderError(Exit.usage, "commander.unknownOption", `unknown option '${word}'`);
	}
	return undefined;
}
