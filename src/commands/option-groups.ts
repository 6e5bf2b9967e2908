import { type Command, type HelpConfiguration, Option } from "commander";

/** Groups of options in the order in which a help shows them, a line each, with the options that they hold in theirs. */
const GROUPS: readonly (readonly [heading: string, flags: readonly string[]])[] = `
Which documents: dataset id where where-json missing name match
What to write: mode set delete-token only-changed on-existing allow-type-change map ignore empty schema
Which files: include exclude files-from null names follow checksum sidecars
Parsing: parse only-failed again wait stall-time
How the manifest is read: as for config files-root map ignore empty sheet encoding decimal-comma date-format list-separator true false schema on-duplicate shard skip-invalid allow-empty
Check first: dry-run detailed-exitcode undeclared yes
Pace: rate limiter pause continue concurrency chunk timeout max-duration
Failures: attempts max-wait max-outage max-errors verify undo resume force failed
Server: flavour body
Output: out fields sort limit format limit-characters man-pages json report junit metrics-file annotations ping progress quiet debug log-file help
`
	.trim()
	.split("\n")
	.map((line) => {
		const [heading = "", names = ""] = line.split(": ");
		return [`${heading}:`, names.split(" ").map((name) => `--${name}`)];
	});

/** The heading under which an option stands; undefined for an option of one command alone. A command may name another. */
function optionGroup(option: Option): string | undefined {
	if (option.helpGroupHeading !== undefined) return option.helpGroupHeading;
	return GROUPS.find(([, flags]) => flags.includes(nameOf(option)))?.[0];
}

/** Places of options that stand in a group; others keep theirs. */
const PLACES = new Map(GROUPS.flatMap(([, flags]) => flags).map((flag, place) => [flag, place]));

function byPlace(one: unknown, other: unknown): number {
	return placeOf(one) - placeOf(other);
}

function placeOf(item: unknown): number {
	return item instanceof Option ? (PLACES.get(nameOf(item)) ?? 0) : 0;
}

/** `--no-undo` is the option `--undo`. */
export function nameOf({ long }: Option): string {
	return long?.replace(/^--no-/, "--") ?? "";
}

/** How the help of each command is written: options in groups, and their choices and default in one pair of brackets. */
export const helpConfiguration: HelpConfiguration = {
	groupItems: (_unsorted, visibleItems, getGroup) => {
		const own = (item: (typeof visibleItems)[number]): string | undefined =>
			item instanceof Option ? optionGroup(item) : undefined;
		// A command that shares no option but --help has one list.
		const isOneList = visibleItems.filter((item) => own(item) !== undefined).length < 2;
		const items = new Map<string, typeof visibleItems>();
		for (const item of visibleItems) {
			const heading = (isOneList ? undefined : own(item)) ?? getGroup(item);
			items.set(heading, [...(items.get(heading) ?? []), item]);
		}
		const order = ["Options:", ...GROUPS.map(([heading]) => heading)];
		const sorted = [...items].toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other));
		return new Map(sorted.map(([heading, group]) => [heading, isOneList ? group : group.toSorted(byPlace)]));
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
};

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
