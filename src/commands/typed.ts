import { Command, type Option } from "commander";

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
	const help = command.createHelp();
	const all: Option[] = [];
	for (let at: Command | null = command; at; at = at.parent) all.push(...help.visibleOptions(at));
	return all;
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

type Mistyped = { readonly message: string; readonly hint: string };

/** Dashes that word processors and chat programs make of `--`. */
const OTHER_DASHES = /^[\u2010-\u2015\u2212]+/;

/**
 * An option that the parser would take for something else without a word: `-dry-run` is the dataset "ry-run", `-d=papers`
 * the dataset "=papers", and in `--dataset --dry-run` the dataset is "--dry-run". All three would lose what was meant.
 */
export function mistypedOption(argv: readonly string[], command: Command): Mistyped | undefined {
	const options = optionsOf(command);
	const named = (flag: string): Option | undefined =>
		options.find(({ long, short }) => long === flag || (short === flag && flag.length === 2));
	let before: Option | undefined;
	for (const word of argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined)) {
		const [flag = "", ...value] = word.split("=");
		if (before !== undefined) {
			const isOption = flag.startsWith("--") && named(flag) !== undefined;
			if (isOption)
				return { message: `${before.long} has no value: ${flag} follows it`, hint: `Type: ${before.flags}` };
			before = undefined;
			continue;
		}
		const bare = longForm(flag.replace(OTHER_DASHES, "-")).replace(/^--?/, "");
		const isMistyped = OTHER_DASHES.test(flag) || /^-[^-]{2}/.test(flag);
		if (isMistyped && named(`--${bare}`) !== undefined) {
			return { message: `${flag} is no option: its name begins with two dashes`, hint: `Type: --${bare}` };
		}
		const option = named(flag);
		if (option?.required === true && option.short === flag && value.length > 0) {
			return {
				message: `${word} is no option: after ${flag} stands a blank`,
				hint: `Type: ${flag} ${value.join("=")}`,
			};
		}
		before = option?.required === true && value.length === 0 ? option : undefined;
	}
	return undefined;
}
