import type { Command, CommanderError, Option } from "commander";
import { KEY_OPTION } from "../text/stray-keys.ts";
import { nearest } from "../workflows/values/spellings.ts";
import { alternatives } from "../text/words.ts";
import { COMMAND_HABITS, type Habit, OPTION_HABITS } from "./habits.ts";
import { groups } from "./index.ts";
import { commandName, longForm, optionsOf, typedCommand } from "./typed.ts";

/** Removes, takes a guard away, or answers a question: spelling alone is no reason to suggest it. */
const NEVER_BY_SPELLING: readonly string[] =
	"rm,prune,undo,docs rm,runs prune,runs undo,--yes,-y,--all,--force,--no-undo,--allow-type-change".split(",");

const KEY_HINT =
	"Keys are not taken from flags, because other users of this machine can see them: set RAGTAG_API_KEY, or give --api-key-file PATH or --api-key-command COMMAND.";

/** A command line that could not be parsed. */
type Wrong = {
	readonly error: Pick<CommanderError, "code" | "message">;
	readonly argv: readonly string[];
	/** with the commands that the line may call */
	readonly program: Command;
	/** with all commands */
	readonly whole: () => Promise<Command>;
};

/** What to type instead, and where it is described. */
export async function usageHint(wrong: Wrong): Promise<string> {
	const command = typedCommand(wrong.program, wrong.argv);
	const answer = await answerTo(wrong, command);
	return [...(answer === undefined ? [] : [answer]), helpOf(command)].join("\n");
}

/** The help of what was typed. */
function helpOf(command: Command): string {
	const name = commandName(command);
	if (command.parent === null) return "All commands: ragtag --help";
	return command.commands.length > 0 ? `Its commands: ragtag ${name} --help` : `Its options: ragtag ${name} --help`;
}

async function answerTo({ error, argv, whole }: Omit<Wrong, "program">, command: Command): Promise<string | undefined> {
	const { code, message } = error;
	const [, word = ""] = /'([^']*)'/.exec(message) ?? [];
	if (code === "commander.unknownCommand") return commandAnswer(word, command, argv);
	if (code === "commander.unknownOption") {
		return optionAnswer(word, command) ?? ownersAnswer(word, await whole());
	}
	if (code === "commander.missingMandatoryOptionValue") {
		const flags = optionsOf(command).flatMap(({ long }) => long ?? []);
		const typed = argv.filter((word) => word.startsWith("--")).map((word) => word.replace(/=.*/s, ""));
		const mistyped = typed.find((word) => !flags.includes(word) && nearest(word, flags).length > 0);
		return mistyped === undefined ? undefined : optionAnswer(mistyped, command);
	}
	if (code === "commander.excessArguments") return excessAnswer(command, argv);
	if (code === "commander.optionMissingArgument") return `Type: ${word}`;
	if (code === "commander.missingArgument") return `Usage: ${command.createHelp().commandUsage(command)}`;
	return undefined;
}

/**
 * The answer to a habit: `Type:` stands before a lone command.
 *
 * @param places where the word was typed, the nearest first
 * @param fits whether an answer can be followed there
 */
function habitOf(
	habits: readonly Habit[],
	word: string,
	places: readonly string[],
	fits: (answer: string) => boolean = () => true,
): string | undefined {
	const known = habits.filter(([, words, answer]) => words.includes(word) && fits(answer));
	const [answer] = places.flatMap((place) => known.flatMap((habit) => (habit[0] === place ? [habit[2]] : [])));
	return answer === undefined || !LONE_COMMAND.test(answer) ? answer : `Type: ${answer}`;
}

/** An answer that is a command and no sentence. */
const LONE_COMMAND = /^ragtag [^;:,]*(?:[^.]|\.\.\.)$/;

/** Each command, by the words that people type for it. */
function commandsByWord(): ReadonlyMap<string, readonly string[]> {
	const found = new Map<string, string[]>();
	const add = (word: string, command: string): void => void found.set(word, [...(found.get(word) ?? []), command]);
	for (const { name, commands } of groups) {
		add(name, name);
		for (const [word] of commands) {
			if (word === name) continue;
			add(word, `${name} ${word}`);
			add(`${name} ${word}`, `${name} ${word}`);
		}
	}
	return found;
}

function commandAnswer(word: string, command: Command, argv: readonly string[]): string | undefined {
	const isTop = command.parent === null;
	const place = isTop ? "ragtag" : commandName(command);
	const habit = habitOf(COMMAND_HABITS, word, [place, "*"]);
	const byWord = commandsByWord();
	const next = argv[argv.indexOf(word) + 1];
	// `doc list`
	const pair = isTop && next !== undefined ? nearest(`${word} ${next}`, byWord.keys()) : [];
	const names = command.commands.map((each) => each.name());
	const own = isTop ? [] : nearest(word, names).map((each) => `${place} ${each}`);
	if (own.some((each) => NEVER_BY_SPELLING.includes(each))) return habit;
	return (
		habit ??
		didYouMean(pair.filter((each) => each.includes(" "))) ??
		didYouMean(own) ??
		didYouMean(nearest(word, byWord.keys()).flatMap((each) => byWord.get(each) ?? []))
	);
}

/** @param commands without `ragtag` */
function didYouMean(commands: readonly string[]): string | undefined {
	const safe = [...new Set(commands)].filter((each) => !NEVER_BY_SPELLING.includes(each));
	return safe.length === 0 ? undefined : `Did you mean ${alternatives(safe.map((each) => `ragtag ${each}`))}?`;
}

function optionAnswer(typed: string, command: Command): string | undefined {
	const [word = "", ...value] = typed.split("=");
	if (KEY_OPTION.test(word)) return KEY_HINT;
	const options = optionsOf(command);
	const named = (flag: string): Option | undefined =>
		options.find(({ long, short }) => flag === long || flag === short);
	const has = (flag: string): boolean => named(flag) !== undefined;
	const option = named(typed.startsWith("--") ? word : typed);
	const name = commandName(command);
	if (option !== undefined) {
		if (value.length > 0 && !option.required) return `${word} takes no value: type ${word} alone.`;
		return `An option stands after its command: ragtag ${name} ${option.flags}`;
	}
	const [group = ""] = name.split(" ");
	const fits = (answer: string): boolean => ownOptionsIn(answer).every(has);
	const places = [name, group, "*"];
	const long = longForm(word);
	if (long !== word && has(long)) return `Type: ${long}`;
	// `-d=papers`
	if (word.length === 2 && has(word)) return `Type: ${word} ${value.join("=")}`;
	return (
		habitOf(OPTION_HABITS, word, places, fits) ??
		habitOf(OPTION_HABITS, long, places, fits) ??
		nearestOption(long, options)
	);
}

/** The options in an answer that are meant for the typed command, which are those before any command that it names. */
function ownOptionsIn(answer: string): readonly string[] {
	return answer.split("ragtag ")[0]?.match(/(?<![\w-])--?[a-z][a-z-]*/g) ?? [];
}

function nearestOption(word: string, options: readonly Option[]): string | undefined {
	const flags = options.flatMap(({ long }) => long ?? []);
	const letter = options.find(({ short }) => short?.toLowerCase() === word.toLowerCase())?.short;
	const near = letter === undefined ? (word.length > 2 ? nearest(word, flags) : []) : [letter];
	const safe = near.filter((flag) => !NEVER_BY_SPELLING.includes(flag));
	return safe.length === 0 ? undefined : `Did you mean ${alternatives(safe)}?`;
}

/** Commands that an answer names as those that have an option. */
const MOST_OWNERS = 4;

/** The commands that have an option which the typed one lacks. */
function ownersAnswer(typed: string, whole: Command): string | undefined {
	const [word] = typed.split("=");
	const leaves = whole.commands.flatMap((each) => (each.commands.length > 0 ? each.commands : [each]));
	const owners = leaves.filter(({ options }) => options.some(({ long, short }) => long === word || short === word));
	const all = owners.map(commandName).filter((name) => !NEVER_BY_SPELLING.includes(name));
	const names = all.slice(0, MOST_OWNERS);
	return names.length === 0
		? undefined
		: `${word} is an option of ${alternatives(names.map((each) => `ragtag ${each}`))}.`;
}

/** Words after those that a command takes. */
function excessAnswer(command: Command, argv: readonly string[]): string | undefined {
	const [excess = ""] = command.args.slice(command.registeredArguments.length);
	const options = optionsOf(command);
	const has = (flag: string): boolean => options.some(({ long }) => long === flag);
	const [word = "", ...value] = excess.split("=");
	const option = options.find(({ long }) => long === `--${word}`);
	if (option?.long !== undefined && !NEVER_BY_SPELLING.includes(option.long)) return `Did you mean --${excess}?`;
	const keyed = ["--set", "--where"].find(has);
	if (value.length > 0 && keyed !== undefined) return `Did you mean ${keyed} ${excess}?`;
	const isGiven = argv.some((each) => /^(?:-d|--dataset(?:=.*)?$)/.test(each));
	const isFile = /[./]/.test(excess);
	const isDataset = has("--dataset") && !isGiven && !isFile;
	return isDataset ? `A dataset stands after -d. Did you mean -d ${excess}?` : undefined;
}
