import type { Argument, Command, Option } from "commander";
import type { App } from "../app.ts";
import { Exit, type ExitCode } from "../errors.ts";
import { executionOf } from "../workflows/recorded/run-state.ts";
import { TOPICS } from "./help.ts";
import { childrenOf, isRepeatable } from "./help-tree.ts";
import { typedCommand, typedLine } from "./typed.ts";

/** One word that is offered at the cursor. */
type Candidate = { readonly value: string; readonly description: string };

/** Words that the tree knows, or values that must be read from somewhere. */
type Source =
	| readonly Candidate[]
	| "files"
	| "folders"
	| "runs"
	| "unfinished runs"
	| "runs going on"
	| "profiles"
	| "datasets";

const NOTHING: readonly Candidate[] = [];

/** Runs that are offered, the newest first: a longer list does not fit on a screen. */
const MOST_RUNS = 30;

/** Values that are looked up, by the option that takes them. */
const LOOKED_UP: Readonly<Record<string, Source>> = {
	"--profile": "profiles",
	"--dataset": "datasets",
	"--state-dir": "folders",
	"--files-root": "folders",
	"--man-pages": "folders",
};

/** The runs that a command of `ragtag runs` takes, where it does not take all. */
const RUNS: Readonly<Record<string, Source>> = { resume: "unfinished runs", adjust: "runs going on" };

/** Names of values and arguments that are paths. */
const PATHS: ReadonlySet<string> = new Set(["file", "files", "path", "manifest", "FILE", "plan"]);

/**
 * Prints the words that fit the end of a command line, for the scripts of `ragtag completion`. Each line has a value, a
 * tab and a description. The last line is `:files`, `:folders` or `:none`: what else the shell may offer.
 *
 * A shell calls it at each Tab, so it asks no service, and prints nothing in place of an error.
 *
 * @param program the whole tree
 * @param words all words after the program's name; the last one is the word at the cursor, perhaps empty
 */
export async function complete(program: Command, words: readonly string[], app: App): Promise<ExitCode> {
	const { prefix, typed, source, settings } = completionAt(program, words);
	const candidates = typeof source === "object" ? source : await found(source, settings, app).catch(() => []);
	const lines = candidates
		// A shell divides the answer at line ends and tabs; a name that holds one can't be typed anyway.
		.filter(({ value }) => value.startsWith(typed) && value === oneLine(value))
		.map(({ value, description }) => `${prefix}${value}\t${oneLine(description)}\n`);
	await app.io.out(`${lines.join("")}:${source === "files" || source === "folders" ? source : "none"}\n`);
	return Exit.ok;
}

/** The words to offer at the cursor, which begin with what is typed. */
function completionAt(program: Command, words: readonly string[]) {
	const before = words.slice(0, -1);
	const command = typedCommand(program, before);
	const { args, texts, names } = typedLine(before, command);
	const onlyArguments = before.includes("--");
	const options = [...new Set([...command.options, ...program.options])];
	const optionOf = (flag: string): Option | undefined =>
		options.find(({ long, short }) => long === flag || short === flag);
	// The option whose value comes next. One of several values, such as --id, goes on until the next option.
	const at = before.findLastIndex((each) => each.startsWith("-") && each !== "-");
	const last = onlyArguments ? undefined : optionOf(before[at] ?? "");
	const open = last?.required === true && (last.variadic || at === before.length - 1) ? last : undefined;
	const { profile, stateDir, baseUrl } = texts;
	const word = words.at(-1) ?? "";
	// The settings that the line names say where profiles, runs and datasets are read. The prefix begins every candidate:
	// `--mode=` where the value is written in one word with its option.
	const offer = (source: Source, typed = word, prefix = "") => {
		return { prefix, typed, source, settings: { profile, stateDir, baseUrl } };
	};
	const isOption = word.startsWith("-") && !onlyArguments;
	if (open !== undefined && !(open.variadic && isOption)) return offer(valuesOf(open));
	if (!isOption) return offer(wordsAfter(command, program, args.length));
	const [flag = "", ...value] = word.split("=");
	if (value.length > 0) {
		const option = optionOf(flag);
		return offer(option?.required === true ? valuesOf(option) : NOTHING, value.join("="), `${flag}=`);
	}
	// Options that are not there yet, or may stand again.
	const flags = options.flatMap((option): Candidate[] => {
		const { long, description } = option;
		if (long === undefined || option.hidden || (names.has(option.attributeName()) && !isRepeatable(option))) return [];
		return [{ value: long, description }];
	});
	const help = { value: "--help", description: "help of this command" };
	return offer([...flags, help]);
}

/** @param count arguments that stand before */
function wordsAfter(command: Command, program: Command, count: number): Source {
	if (command.name() === "help" && command.parent === program) {
		const topics = TOPICS.map(({ name, kind }) => ({ value: name, description: kind }));
		return count === 0 ? [...wordsOf(program), ...topics] : NOTHING;
	}
	const children = wordsOf(command);
	if (children.length > 0) return count === 0 ? children : NOTHING;
	const all = command.registeredArguments;
	const last = all.at(-1);
	const argument = all[count] ?? (last?.variadic === true ? last : undefined);
	if (argument === undefined) return NOTHING;
	if (argument.name() === "run" || argument.name() === "runs") return RUNS[command.name()] ?? "runs";
	return choicesOf(argument) ?? (PATHS.has(argument.name()) ? "files" : NOTHING);
}

function wordsOf(command: Command): readonly Candidate[] {
	return childrenOf(command).map((child) => ({ value: child.name(), description: child.summary() }));
}

function choicesOf({ argChoices }: Option | Argument): readonly Candidate[] | undefined {
	return argChoices?.map((value) => ({ value, description: "" }));
}

function valuesOf(option: Option): Source {
	const name = /<([^>]+)>/.exec(option.flags)?.[1] ?? "";
	return choicesOf(option) ?? LOOKED_UP[option.long ?? ""] ?? (PATHS.has(name) ? "files" : NOTHING);
}

async function found(
	source: Exclude<Source, readonly Candidate[]>,
	flags: Parameters<App["settings"]>[0],
	app: App,
): Promise<readonly Candidate[]> {
	if (source === "profiles") return (await app.profiles()).map((value) => ({ value, description: "profile" }));
	if (source === "files" || source === "folders") return [];
	const settings = await app.settings(flags);
	if (source === "datasets") {
		const remembered = await app.rememberedDatasets(settings);
		return ((await remembered?.load()) ?? []).map(({ name, id }) => ({ value: name, description: id }));
	}
	const runs = app.runs(settings);
	const candidates: Candidate[] = [];
	for (const name of await runs.names()) {
		if (candidates.length === MOST_RUNS) break;
		const file = await runs.read(name);
		if (file === undefined) continue;
		const isFinished = runs.hasSummary(name);
		if (source !== "runs" && isFinished) continue;
		if (source === "runs going on" && (await executionOf(name, runs)) !== "running") continue;
		const { command, manifest } = file;
		candidates.push({ value: name, description: `${command} ${manifest.name}${isFinished ? "" : ", unfinished"}` });
	}
	return candidates;
}

function oneLine(text: string): string {
	// oxlint-disable-next-line no-control-regex -- these are what a terminal must not get
	return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
}
