import { type Command, Help, type HelpConfiguration, type Option } from "commander";
import { helpConfiguration, nameOf } from "./option-groups.ts";
import { commandName } from "./typed.ts";

/** The options that people use most, of each command that has more than a screen of them, in the order of `-h`. */
const MOST_USED: ReadonlyMap<string, readonly string[]> = new Map(
	`
docs list: dataset where where-json missing name untagged parsing fields sort limit format wide json quiet
docs tag: dataset dry-run mode set where only-changed map rate resume verify failed report yes json quiet
docs plan: dataset out mode set map undeclared detailed-exitcode format rate failed report json quiet
docs apply: dry-run rate resume verify failed report max-errors max-duration yes json quiet
docs resolve: dataset match map set out skip-invalid rate json quiet
docs upload: dataset dry-run set include exclude on-existing parse wait map resume failed report yes json quiet
docs download: dataset out where name id dry-run only-changed force resume rate verify failed report json quiet
docs sync: dataset dry-run remove max-remove trash pattern set include exclude parse wait failed report json quiet
docs rm: dataset id dry-run yes rate resume verify failed report max-errors json quiet
docs parse: dataset where id only-failed again wait stall-time dry-run yes rate resume failed report json quiet
manifest check: dataset for mode set map schema sheet encoding decimal-comma date-format junit json quiet
manifest from: out pattern facts keys strict explain include exclude names json quiet
runs resume: yes rate verify failed report max-errors max-duration force json quiet
runs retry: rate verify failed report max-errors max-duration force json quiet
runs undo: dry-run yes rate verify failed report force json quiet
values: dataset out map rename dry-run rate verify failed report format json quiet
runs verify: verify rate report junit max-duration json quiet
sandbox: port data documents key flavour latency faults page-limit quiet
`
		.trim()
		.split("\n")
		.map((line) => {
			const [name = "", flags = ""] = line.split(": ");
			return [name, flags.split(" ").map((flag) => `--${flag}`)];
		}),
);

/** Columns of a help in a pipe: `-h` is for a screen. */
export const SHORT_WIDTH = 80;

/** What a line asks for: `-h` alone is the short help. */
export function asksShortHelp(argv: readonly string[]): boolean {
	return argv.includes("-h") && !argv.includes("--help");
}

/**
 * How the help of each command is written. The options of every command stand in `ragtag help options` alone.
 *
 * @param isShort whether only the options that people use most are shown, in one list
 */
export function helpView(isShort: boolean): HelpConfiguration {
	return {
		...helpConfiguration,
		formatHelp: (command) => {
			const { formatHelp: _, ...configuration } = command.configureHelp();
			const used = isShort ? MOST_USED.get(commandName(command)) : undefined;
			const view = Object.assign(new Help(), configuration, used === undefined ? {} : shortView(used));
			const shown = view.visibleOptions(command);
			if (command.parent === null)
				view.visibleOptions = () => shown.filter(({ short }) => short === "-V" || short === "-h");
			return view.formatHelp(command, view);
		},
	};
}

function shortView(used: readonly string[]): Partial<Help> {
	const every = new Help();
	return {
		commandDescription: (command) => command.summary(),
		visibleArguments: () => [],
		visibleOptions: (command) =>
			every
				.visibleOptions(command)
				.filter((option) => used.includes(nameOf(option)))
				.toSorted((one, other) => used.indexOf(nameOf(one)) - used.indexOf(nameOf(other))),
		groupItems: (_, items) => new Map([["Options that are used most:", items]]),
		optionDescription: firstClause,
	};
}

/** What an option does, without what comes after a semicolon, and with its choices and default. */
function firstClause(option: Option): string {
	const text = helpConfiguration.optionDescription?.(option) ?? option.description;
	const [clause = ""] = text.split(/; | \(/);
	const [facts = ""] = / \((?:one of|default: )[^()]*\)$/.exec(text) ?? [];
	return `${clause}${text.includes("(repeatable") ? " (repeatable)" : ""}${facts}`;
}

/** The last lines of a help: where the rest is. */
export function helpEnd(command: Command, isShort: boolean): string {
	const name = commandName(command);
	const all = isShort && MOST_USED.has(name) ? [`All options, in groups:   ragtag ${name} --help`] : [];
	return ["", ...all, "Options of every command: ragtag help options"].join("\n");
}
