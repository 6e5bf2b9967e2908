import { expect, it } from "vitest";
import { COMMAND_HABITS, type Habit, OPTION_HABITS } from "../../../src/commands/habits.ts";
import { helpEntries } from "../../support/help-tree.ts";
import { ragtag } from "../../support/ragtag.ts";
import { at, items } from "../../support/values.ts";

/** Nothing of a home is read before a command line is refused. */
const say = (argv: readonly string[]): ReturnType<typeof ragtag> => ragtag(argv, { home: "/nonexistent" });

const [program, ...entries] = await helpEntries();
const optionsOf = (entry: unknown): string[] =>
	items(at(entry, "options")).flatMap((option) => [String(at(option, "flag")), String(at(option, "short"))]);

/** Each command, with its options and those of the program. */
const commands = new Map(
	[program, ...entries].map((entry) => [
		String(at(entry, "command")),
		new Set([...optionsOf(entry), ...optionsOf(program)]),
	]),
);

const FLAG = /(?<![\w-])--?[a-z][a-z-]*/g;

/** The commands that an answer names, with the options that it gives each. The first part is for the command that was typed. */
function namedIn(answer: string): readonly (readonly [command: string, options: readonly string[]])[] {
	const [own = "", ...others] = answer.split(/ragtag (?=[a-z-])/);
	const named = others.map((part) => {
		const words = /^[a-z]+(?: [a-z]+)?/.exec(part)?.[0].split(" ") ?? [];
		const name = [words.join(" "), words[0] ?? ""].find((each) => commands.has(each)) ?? "";
		return [name, part.match(FLAG) ?? []] as const;
	});
	return [["", own.match(FLAG) ?? []], ...named];
}

/** What is typed for a habit: after the command where its answer fits. */
function typed([place, , answer]: Habit, word: string): string[] {
	if (!word.startsWith("-")) return place === "ragtag" || place === "*" ? [word] : [place, word];
	const [[, own] = ["", []]] = namedIn(answer);
	const fits = (name: string): boolean =>
		own.every((flag) => commands.get(name)?.has(flag) === true) && commands.get(name)?.has(word) !== true;
	const places = [place, "docs tag", "docs list", "runs show", ...commands.keys()].filter(
		(name) => place === "*" || name === place || name.startsWith(`${place} `),
	);
	const found = places.find((name) => commands.has(name) && name.includes(" ") && fits(name)) ?? place;
	// It is asked for its output before anything else.
	return [...found.split(" "), ...(found === "docs plan" ? ["--out", "x"] : []), word];
}

const habits = [...COMMAND_HABITS, ...OPTION_HABITS].map((habit) => [habit[0], habit[1].join(" "), habit] as const);

it.each(habits)("who types %s %s gets what to type here", async (_place, _words, habit) => {
	const [place, words, answer] = habit;
	expect(answer).not.toMatch(/[:;,]$/);
	for (const [command, options] of namedIn(answer).slice(1)) {
		for (const flag of options) expect(commands.get(command), `${flag} in: ${answer}`).toContain(flag);
	}
	for (const word of words) {
		const { exit, stdout, stderr } = await say(typed(habit, word));
		expect([exit, stdout]).toEqual([2, ""]);
		// A later entry answers where the first one does not fit.
		const answers = habits.filter(([other]) => other === place || other === "*").map(([, , each]) => each);
		const some = answers.filter((each) => each[1].includes(word)).map((each) => each[2]);
		expect(
			some.some((each) => stderr.includes(each)),
			stderr,
		).toBe(true);
		expect(stderr).toMatch(/ragtag (?:.* )?--help$/m);
	}
});

it("no word of a habit is a command there: it would never be answered", () => {
	for (const [place, words] of COMMAND_HABITS)
		for (const word of words) expect(commands.has(place === "ragtag" ? word : `${place} ${word}`), word).toBe(false);
});

const REMOVES = /Did you mean [^?]*(?:\brm\b|prune|undo|--yes|--force|--all|--no-undo)/;

/** Every word with a letter missing, doubled, or swapped with the next one. */
function misspelt(word: string): readonly string[] {
	return Array.from(word).flatMap((letter, n) => [
		word.slice(0, n) + word.slice(n + 1),
		word.slice(0, n) + letter + word.slice(n),
		word.slice(0, n) + (word[n + 1] ?? "") + letter + word.slice(n + 2),
	]);
}

it.each([
	[["docs"], "rm"],
	[["runs"], "prune"],
	[["runs"], "undo"],
	[["runs"], "rm"],
	[[], "prune"],
	[["docs", "rm"], "--yes"],
	[["docs", "tag", "x.csv"], "--force"],
	[["docs", "tag", "x.csv"], "--no-undo"],
	[["runs", "prune"], "--all"],
])("nothing that removes, or that takes a guard away, is suggested by spelling: %j %s", async (before, word) => {
	for (const wrong of misspelt(word)) {
		if (wrong === word || wrong === "") continue;
		const { stderr } = await say([...before, wrong]);
		expect(stderr).not.toMatch(REMOVES);
	}
});

it.each([
	["docs lst", "Did you mean ragtag docs list?"],
	["doc lits", "Did you mean ragtag docs list?"],
	["dataset list", "Did you mean ragtag datasets list?"],
	["list docs", "Did you mean ragtag docs list?"],
	["docs_list", "Did you mean ragtag docs list?"],
	["uplaod a.pdf", "Did you mean ragtag docs upload?"],
	["docs resume", "Did you mean ragtag runs resume?"],
	["docs tag x.csv --dryrun", "Did you mean --dry-run?"],
	["docs tag x.csv --DATASET x", "Did you mean --dataset?"],
	["docs tag x.csv --conc 3", "Did you mean --concurrency?"],
	["docs download -d x --outt y", "Did you mean --out?"],
	["docs list --only-changed", "--only-changed is an option of ragtag docs tag or ragtag docs download."],
	["docs tag x.csv --json=true", "--json takes no value: type --json alone."],
	["--rate=5 docs tag x.csv", "An option stands after its command: ragtag docs tag --rate <n>"],
	["docs -n tag x.csv", "An option stands after its command: ragtag docs tag -n, --dry-run"],
	["docs tag x.csv -dry-run", "Type: --dry-run"],
	["docs tag x.csv -d=papers", "Type: -d papers"],
	["docs tag x.csv --dataset --dry-run", "argument missing: --dry-run follows it\nType: -d, --dataset <id or name>"],
	["docs tag x.csv json", "Did you mean --json?"],
	["docs tag x.csv a=b", "Did you mean --set a=b?"],
	["docs list papers", "Did you mean -d papers?"],
	["docs tag x.csv --rate", "Type: --rate <n>"],
	["datasets create", "Usage: ragtag datasets create [options] <name>"],
	["manifest init -d x -o json", "Lists take --format json; a file of that name is ./json."],
	// As terraform has it.
	["docs plan a.csv -out=x", "Type: --out"],
	["docs tag a.csv -var a=b", "--set KEY=VALUE"],
	["docs tag a.csv -parallelism=4", "--concurrency N"],
	// As dsbulk has it.
	["docs tag a.csv -dryRun", "Type: --dry-run"],
	["docs tag a.csv -maxConcurrentQueries 4", "--concurrency N"],
])("%s is answered with what to type", async (line, answer) => {
	const { exit, stdout, stderr } = await say(line.split(" "));
	expect([exit, stdout, stderr]).toEqual([2, "", expect.stringContaining(answer)]);
	expect(stderr).toMatch(/ragtag .*--help$/m);
});

it("-n, -y and -o are --dry-run, --yes and --out", () => {
	const owners = [
		["-n", "--dry-run"],
		["-y", "--yes"],
		["-o", "--out"],
	] as const;
	for (const [short, long] of owners)
		for (const [name, options] of commands) expect([name, options.has(short)]).toEqual([name, options.has(long)]);
});
