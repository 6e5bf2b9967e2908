import { type Command, Help, type HelpConfiguration, Option } from "commander";
import { commandName } from "./typed.ts";

/** Groups of options in the order in which a help shows them, a line each, with the options that they hold in theirs. */
const GROUPS = flagsByName(`
Which documents:: dataset id where where-json missing name match parsing untagged
What to write:: mode set delete-token only-changed on-existing allow-type-change map ignore empty schema
Which files:: include exclude files-from null names follow checksum sidecars
Parsing:: parse only-failed again wait stall-time
How the manifest is read:: as for config files-root map ignore empty sheet encoding decimal-comma date-format list-separator true false schema on-duplicate shard skip-invalid allow-empty
Check first:: dry-run detailed-exitcode undeclared yes
Pace:: rate limiter pause continue concurrency chunk timeout max-duration
Failures:: attempts max-wait max-outage max-errors verify undo resume force failed
Server:: flavour body
Output:: out fields sort limit format limit-characters man-pages json report junit metrics-file annotations ping progress quiet debug log-file help
`);

const PLACES = [...GROUPS.values()].flat();

/** The options that people use most, of each command that has more than a screen of them, in the order of `-h`. */
const MOST_USED = flagsByName(`
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
`);

/** The lines of a table, as `docs apply: dry-run rate`. */
function flagsByName(table: string): ReadonlyMap<string, readonly string[]> {
	const lines = table.trim().split("\n");
	return new Map(
		lines.map((line) => {
			const [name = "", flags = ""] = line.split(/: (?=[a-z])/);
			return [name, flags.split(" ").map((flag) => `--${flag}`)];
		}),
	);
}

/** `--no-undo` is the option `--undo`. */
function nameOf(option: Command | Option): string {
	return option instanceof Option ? (option.long?.replace(/^--no-/, "--") ?? "") : "";
}

/** The heading under which an option stands; undefined for an option of one command alone. A command may name another. */
function groupOf(option: Command | Option): string | undefined {
	if (option instanceof Option && option.helpGroupHeading !== undefined) return option.helpGroupHeading;
	return [...GROUPS].find(([, flags]) => flags.includes(nameOf(option)))?.[0];
}

/** Items in the order of flags. The others keep theirs, beside the first flag. */
function byPlace<Item extends Command | Option>(items: Item[], flags: readonly string[]): Item[] {
	const placeOf = (item: Item): number => Math.max(0, flags.lastIndexOf(nameOf(item)));
	return items.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** How the help of each command is written: options in groups, and their choices and default in one pair of brackets. */
const helpConfiguration = {
	groupItems: (_unsorted, visibleItems, getGroup) => {
		// A command that shares no option but --help has one list.
		const isOneList = visibleItems.filter((item) => groupOf(item) !== undefined).length < 2;
		const items = new Map<string, typeof visibleItems>();
		for (const item of visibleItems) {
			const heading = (isOneList ? undefined : groupOf(item)) ?? getGroup(item);
			items.set(heading, [...(items.get(heading) ?? []), item]);
		}
		const order = ["Options:", ...GROUPS.keys()];
		const sorted = [...items].toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other));
		return new Map(sorted.map(([heading, group]) => [heading, isOneList ? group : byPlace(group, PLACES)]));
	},
	optionDescription: (option) => {
		const said = /^(.*?) ?\(default: ([^)]*)\)$/s.exec(option.description);
		const byDefault = said?.[2] ?? defaultOf(option);
		const facts = [
			...(option.argChoices === undefined ? [] : [`one of ${option.argChoices.join(", ")}`]),
			...(byDefault === undefined ? [] : [`default: ${byDefault}`]),
		];
		const text = said?.[1] ?? option.description;
		return facts.length === 0 ? text : `${text} (${facts.join("; ")})`;
	},
} satisfies HelpConfiguration;

function defaultOf(option: Option): string | undefined {
	// The value of a time is a number of milliseconds.
	const value: unknown = option.defaultValueDescription ?? option.defaultValue;
	return !option.negate && (typeof value === "string" || typeof value === "number") ? String(value) : undefined;
}

/** Options of a command by their headings, in the order of its help. */
export function optionsInGroups(command: Command): ReadonlyMap<string, readonly Option[]> {
	const help = command.createHelp();
	return help.groupItems(command.options.slice(), help.visibleOptions(command), () => "Options:");
}

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
			byPlace(
				every.visibleOptions(command).filter((option) => used.includes(nameOf(option))),
				used,
			),
		groupItems: (_, items) => new Map([["Options that are used most:", items]]),
		optionDescription: firstClause,
	};
}

/** What an option does, without what comes after a semicolon, and with its choices and default. */
function firstClause(option: Option): string {
	const text = helpConfiguration.optionDescription(option);
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
