import type { Command, Option } from "commander";

/** One word that is offered at the cursor. */
export type Candidate = { readonly value: string; readonly description: string };

/** The words to offer at the cursor: words that the tree knows, or values that must be read from somewhere. */
export type Completion = {
	/** begins every candidate: `--mode=` where the value is written in one word with its option */
	readonly prefix: string;
	/** the typed beginning of the word, without the prefix */
	readonly typed: string;
	readonly source:
		| readonly Candidate[]
		| "files"
		| "folders"
		| "runs"
		| "unfinished runs"
		| "runs going on"
		| "profiles"
		| "datasets";
	/** settings that the line names: they say where profiles, runs and datasets are read */
	readonly settings: {
		readonly profile?: string | undefined;
		readonly stateDir?: string | undefined;
		readonly baseUrl?: string | undefined;
	};
};

const NOTHING: readonly Candidate[] = [];

/** Values that are looked up, by the option that takes them. */
const LOOKED_UP: Readonly<Record<string, Completion["source"]>> = {
	"--profile": "profiles",
	"--dataset": "datasets",
	"--state-dir": "folders",
	"--files-root": "folders",
	"--man-pages": "folders",
};

/** The runs that a command of `ragtag runs` takes, where it does not take all. */
const RUNS: Readonly<Record<string, Completion["source"]>> = { resume: "unfinished runs", adjust: "runs going on" };

/** Names of values and arguments that are paths. */
const PATHS: ReadonlySet<string> = new Set(["file", "files", "path", "manifest", "FILE", "plan"]);

/**
 * The words that fit the end of a command line.
 *
 * @param program the whole tree
 * @param topics words that may follow `help`, besides commands
 * @param words all words after the program's name; the last one is the word at the cursor, perhaps empty
 */
export function completionAt(program: Command, topics: readonly Candidate[], words: readonly string[]): Completion {
	const at = new Position(program);
	for (const word of words.slice(0, -1)) at.pass(word);
	return at.completion(words.at(-1) ?? "", topics);
}

/** A place in a command line: the command that the words before it name, and what may follow. */
class Position {
	readonly #program: Command;
	readonly #used = new Set<string>();
	readonly #values = new Map<string, string>();
	#command: Command;
	#arguments = 0;
	#open: Option | undefined;
	#onlyArguments = false;

	constructor(program: Command) {
		this.#program = program;
		this.#command = program;
	}

	pass(word: string): void {
		const isFlag = word.startsWith("-") && word !== "-" && !this.#onlyArguments;
		const open = this.#open;
		// An option of several values, such as --id, goes on until the next option.
		if (open !== undefined && (open.required || !isFlag) && !(open.variadic && isFlag)) {
			this.#values.set(open.long ?? "", word);
			this.#open = open.variadic ? open : undefined;
			return;
		}
		this.#open = undefined;
		if (word === "--" && !this.#onlyArguments) this.#onlyArguments = true;
		else if (isFlag) this.#passFlag(word);
		else this.#passArgument(word);
	}

	#passFlag(word: string): void {
		const [flag = "", ...value] = word.split("=");
		const option = this.#option(flag);
		if (option === undefined) return;
		this.#used.add(option.long ?? flag);
		if (value.length > 0) this.#values.set(option.long ?? flag, value.join("="));
		else if (takesValue(option)) this.#open = option;
	}

	#passArgument(word: string): void {
		const child = this.#arguments === 0 ? this.#child(word) : undefined;
		if (child === undefined) this.#arguments += 1;
		else this.#command = child;
	}

	completion(word: string, topics: readonly Candidate[]): Completion {
		const settings = {
			profile: this.#values.get("--profile"),
			stateDir: this.#values.get("--state-dir"),
			baseUrl: this.#values.get("--base-url"),
		};
		const open = this.#open;
		const isFlag = word.startsWith("-") && !this.#onlyArguments;
		if (open !== undefined && !(open.variadic && isFlag)) {
			return { prefix: "", typed: word, source: valuesOf(open), settings };
		}
		const [flag = "", ...value] = word.split("=");
		if (isFlag && value.length > 0) {
			const option = this.#option(flag);
			const source = option !== undefined && takesValue(option) ? valuesOf(option) : NOTHING;
			return { prefix: `${flag}=`, typed: value.join("="), source, settings };
		}
		return { prefix: "", typed: word, source: isFlag ? this.#flags() : this.#argument(topics), settings };
	}

	#option(flag: string): Option | undefined {
		return this.#options().find(({ long, short }) => long === flag || short === flag);
	}

	#options(): readonly Option[] {
		const own = this.#command.options;
		const names = new Set(own.map(({ long }) => long));
		return [...own, ...this.#program.options.filter(({ long }) => !names.has(long))];
	}

	#child(name: string): Command | undefined {
		return this.#command.commands.find((command) => command.name() === name || command.aliases().includes(name));
	}

	/** Options that are not there yet, or may stand again. */
	#flags(): readonly Candidate[] {
		const help = { value: "--help", description: "help of this command" };
		const options = this.#options().flatMap((option) => {
			const { long, description } = option;
			if (long === undefined || option.hidden || (this.#used.has(long) && !isRepeatable(option))) return [];
			return [{ value: long, description }];
		});
		return [...options, help];
	}

	#argument(topics: readonly Candidate[]): Completion["source"] {
		if (this.#command.name() === "help" && this.#command.parent === this.#program) {
			return this.#arguments === 0 ? [...childrenOf(this.#program), ...topics] : NOTHING;
		}
		const children = childrenOf(this.#command);
		if (children.length > 0) return this.#arguments === 0 ? children : NOTHING;
		const all = this.#command.registeredArguments;
		const last = all.at(-1);
		const argument = all[this.#arguments] ?? (last?.variadic === true ? last : undefined);
		if (argument === undefined) return NOTHING;
		if (argument.argChoices !== undefined) return argument.argChoices.map((value) => ({ value, description: "" }));
		if (argument.name() === "run" || argument.name() === "runs") return RUNS[this.#command.name()] ?? "runs";
		return PATHS.has(argument.name()) ? "files" : NOTHING;
	}
}

function childrenOf(command: Command): readonly Candidate[] {
	// Commander adds a command `help` to each group that is not ours.
	const visible = command
		.createHelp()
		.visibleCommands(command)
		.filter((child) => command.commands.includes(child));
	return visible.map((child) => ({ value: child.name(), description: child.summary() }));
}

function takesValue({ required, optional }: Option): boolean {
	return required || optional;
}

/** Options that gather their values say so in their description, as the help does. */
function isRepeatable({ variadic, description }: Option): boolean {
	return variadic || description.includes("repeatable");
}

function valuesOf({ long, flags, argChoices }: Option): Completion["source"] {
	if (argChoices !== undefined) return argChoices.map((value) => ({ value, description: "" }));
	const known = LOOKED_UP[long ?? ""];
	if (known !== undefined) return known;
	const name = /<([^>]+)>/.exec(flags)?.[1] ?? "";
	return PATHS.has(name) ? "files" : NOTHING;
}
