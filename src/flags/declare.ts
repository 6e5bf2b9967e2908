import { Argument, type Command, Option } from "commander";
import type { App, SettingFlags } from "../app.ts";
import type { ExitCode } from "../errors.ts";
import type { RunFile } from "../run/recorded/run-file.ts";
import type { RunFlags } from "./flags.ts";
import type { PayloadFlags } from "./payload-options.ts";
import { refused } from "./refuse.ts";

/** An option, perhaps with its value, or an argument that means nothing without another one, or that excludes it. */
export type Rule = readonly [option: string, verb: "needs" | "excludes", other: string, hint?: string | undefined];

/** An option of a command, as commander reads it, with the type of its value. */
export class Flag<Value, Always extends boolean = false> extends Option {
	/** only a type: what a command gets */
	declare readonly value: Value;
	/** only a type: whether a command gets a value also where a line leaves the option out */
	declare readonly always: Always;
	readonly rules: Rule[] = [];

	/** Adds a rule, as `"needs", "--parse"`. @param subject what it is about, where that is not the option alone */
	rule(verb: Rule[1], other: string, hint?: string, subject = this.short ?? this.long ?? ""): this {
		this.rules.push([subject, verb, other, hint]);
		return this;
	}
}

/** Options by the names of their values. */
type Flags = Readonly<Record<string, Flag<unknown, boolean>>>;

/** What a command gets of its options. */
export type ValuesOf<Own extends Flags> = {
	readonly [Name in keyof Own as Own[Name]["always"] extends true ? Name : never]: Own[Name]["value"];
} & {
	readonly [Name in keyof Own as Own[Name]["always"] extends true ? never : Name]?: Own[Name]["value"] | undefined;
};

/** An option without a value. */
export function toggle(flags: string, description: string): Flag<boolean> {
	return new Flag(flags, description);
}

/** An option with a value. @param read gets also the value of an earlier one on the line */
export function valued<Value>(
	flags: string,
	description: string,
	read: (text: string, earlier: Value | undefined) => Value,
): Flag<Value> {
	return new Flag<Value>(flags, description).argParser(read);
}

/** An option that has a value also where a line does not. */
export function defaulted<Value>(
	flags: string,
	description: string,
	read: (text: string) => Value,
	value: Value,
): Flag<Value, true> {
	return new Flag<Value, true>(flags, description).argParser(read).default(value);
}

/** An option that takes one of a few words. */
export function oneOf<const Word extends string>(
	flags: string,
	words: readonly Word[],
	description: string,
): Flag<Word> {
	return new Flag<Word>(flags, description).choices(words);
}

/** The same. The first one is the default. */
export function choice<const Word extends string>(
	flags: string,
	words: readonly Word[],
	description: string,
): Flag<Word, true> {
	return new Flag<Word, true>(flags, description).choices(words).default(words[0]);
}

/** Resumes a recorded run. `flags` are those of its record that change what is sent, and those of this call, which win. */
export type Resume = (file: RunFile, flags: PayloadFlags & RunFlags, app: App) => Promise<ExitCode>;

/** A command of the tree. */
export type Declared = {
	/** of a command without a group it stands in the tree */
	readonly summary?: string;
	readonly description?: string;
	/** a line each */
	readonly examples?: string;
	/** adds its arguments and options */
	readonly declare: (command: Command) => void;
	/** runs it with what a line has given the command */
	readonly run: (command: Command, app: App) => Promise<ExitCode>;
	readonly resume?: Resume | undefined;
};

/** Arguments as a help shows them, as `[run]`, with their descriptions. */
type Arguments = Readonly<Record<string, string | Argument>>;

type NameOf<Shown> = Shown extends `<${infer Name}...>` | `[${infer Name}...]`
	? Name
	: Shown extends `<${infer Name}>` | `[${infer Name}]`
		? Name
		: never;

/** Each argument as a member of its name. */
type WordsOf<Own extends Arguments> = {
	readonly [Shown in keyof Own as NameOf<Shown>]: Shown extends `${string}...${string}`
		? readonly string[]
		: Shown extends `<${string}>`
			? string
			: string | undefined;
};

/**
 * A command whose `run` takes the options of a line, those of the program, and each argument as a member of its name. The rules
 * are checked first, its own before those of its options.
 */
export function declare<const Words extends Arguments, Own extends Flags>({
	arguments: words,
	options,
	rules = [],
	after,
	run,
	...texts
}: Omit<Declared, "declare" | "run"> & {
	readonly arguments?: Words;
	readonly options?: Own;
	readonly rules?: readonly Rule[];
	/** printed after its help */
	readonly after?: string;
	readonly run: (options: Line<Words, Own>, app: App, command: Command) => Promise<ExitCode>;
}): Declared {
	return {
		...texts,
		declare: (command) => {
			for (const [shown, is] of Object.entries(words ?? {}))
				command.addArgument(typeof is === "string" ? new Argument(shown, is) : is);
			for (const option of Object.values(options ?? {})) command.addOption(option);
			if (after !== undefined) command.addHelpText("after", after);
		},
		run: (command, app) => {
			if (command.getOptionValue("shard") === "auto") command.setOptionValueWithSource("shard", app.shard(), "cli");
			checkRules(command, rules);
			const values: readonly unknown[] = command.processedArgs;
			const named = Object.fromEntries(command.registeredArguments.map((each, at) => [each.name(), values[at]]));
			return run({ ...command.optsWithGlobals<Line<Words, Own>>(), ...named }, app, command);
		},
	};
}

/** What a line gives a command. */
type Line<Words extends Arguments, Own extends Flags> = SettingFlags & WordsOf<Words> & ValuesOf<Own>;

/**
 * Checks the rules of a command and of its options.
 *
 * @throws CliError exit 2 for the first one that a line does not keep
 */
function checkRules(command: Command, own: readonly Rule[]): void {
	const { apiKeyFile, filesFrom, map } = command.optsWithGlobals<Readonly<Record<string, unknown>>>();
	if (apiKeyFile === "-" && [...command.args, filesFrom, map].includes("-")) {
		throw refused(
			"standard input can't be both the manifest and the API key",
			"Give the key in RAGTAG_API_KEY, or a path to --api-key-file.",
		);
	}
	const ofOptions = command.options.flatMap((option) => (option instanceof Flag ? option.rules : []));
	for (const [options, verb, others, hint] of [...own, ...ofOptions]) {
		const [option, other] = [givenOf(command, options, "cli"), givenOf(command, others, "config")];
		if (option === undefined || (other === undefined) === (verb === "excludes")) continue;
		throw verb === "needs"
			? refused(`${option} needs ${others}`, hint ?? `Add ${others}, or leave ${option} out.`)
			: refused(`${option} and ${other} exclude each other`, hint ?? "Use one of them.");
	}
}

/**
 * The first that a line has, of `--wait`, `--mode merge`, `MANIFEST` or `--dry-run or --out`.
 *
 * @param source `config` for one that may also stand in the file of `--config`
 */
function givenOf(command: Command, options: string, source: "cli" | "config"): string | undefined {
	return options.split(" or ").find((each) => {
		const argument = command.registeredArguments.findIndex((one) => one.name().toUpperCase() === each);
		if (argument !== -1) return command.args[argument] !== undefined;
		const [flag, value] = each.split(" ");
		const name = command.options.find(({ long, short }) => long === flag || short === flag)?.attributeName() ?? "";
		if (value !== undefined) return command.getOptionValue(name) === value;
		return ["cli", source].includes(command.getOptionValueSource(name) ?? "");
	});
}

const EXAMPLES = new WeakMap<Command, string>();

/** Adds examples, a line each, which a help shows first. */
export function addExamples(command: Command, examples: string): Command {
	EXAMPLES.set(command, examples);
	return command.addHelpText("before", `Examples:\n${examples.replaceAll(/^/gm, "  ")}\n`);
}

export function examplesOf(command: Command): readonly string[] {
	return EXAMPLES.get(command)?.split("\n") ?? [];
}
