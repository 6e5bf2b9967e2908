import { describe, expect, it } from "vitest";
import { optionsByCommand } from "../../support/help-tree.ts";
import { ragtag } from "../../support/ragtag.ts";

const SCREEN = { lines: 45, columns: 80 };

const commands = await optionsByCommand();

const helpOf = async (command: string, flag: string): Promise<string> =>
	(await ragtag([...command.split(" ").filter(Boolean), flag])).stdout;

/** The lines that a text takes on a screen, long ones wrapped. */
function linesOn(text: string): number {
	return text
		.trimEnd()
		.split("\n")
		.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / SCREEN.columns)), 0);
}

const shown = (text: string): string[] => text.match(/^ {2}(?:-\w, )?--[a-z-]+/gm)?.map((line) => line.trim()) ?? [];

const hasShort = (text: string, command: string): boolean =>
	text.includes(`\nAll options, in groups:   ragtag ${command} --help\n`);

describe("-h", () => {
	it("fits a screen for each command, and its last lines say where the rest is", async () => {
		for (const command of commands.keys()) {
			const text = await helpOf(command, "-h");
			expect([command, linesOn(text) <= SCREEN.lines]).toEqual([command, true]);
			expect(text).toMatch(/\nOptions of every command: ragtag help options\n$/);
			if (hasShort(text, command)) expect(shown(text).length).toBeLessThanOrEqual(15);
			else expect(shown(text)).toEqual(shown(await helpOf(command, "--help")));
		}
	});

	it("of docs tag has examples first, and the fifteen options that people use", async () => {
		const text = await helpOf("docs tag", "-h");
		expect(text).toMatch(/^Examples:\n {2}ragtag docs tag tags\.csv/);
		expect(shown(text)).toEqual(
			"-d, --dataset|-n, --dry-run|--mode|--set|--where|--only-changed|--map|--rate|--resume|--verify|--failed|--report|-y, --yes|--json|-q, --quiet".split(
				"|",
			),
		);
		expect(text).toContain("(one of replace, merge;");
	});

	it("is short for each command with more options than a screen holds", async () => {
		for (const [command, flags] of commands)
			expect([command, hasShort(await helpOf(command, "-h"), command)]).toEqual([command, flags.size > 11]);
	});

	it("with --help too is the whole help", async () => {
		const { stdout } = await ragtag(["docs", "tag", "-h", "--help"]);
		expect(stdout).toBe(await helpOf("docs tag", "--help"));
	});

	it("names a repeatable option as one", async () => {
		expect(await helpOf("docs tag", "-h")).toMatch(/--set <key=value> +adds a value to every row \(repeatable\)/);
	});
});

it("--help describes each option of its command, and `help options` those of the program", async () => {
	for (const [command, flags] of commands) {
		const { stdout } = await ragtag(command === "" ? ["help", "options"] : [...command.split(" "), "--help"]);
		for (const flag of flags) {
			if (command === "" && flag === "--help") continue;
			expect(stdout, command).toMatch(new RegExp(`^ {2}(?:-\\w, )?${flag}(?= |$)`, "m"));
		}
	}
});

describe("the options of every command", () => {
	const GLOBAL =
		"-V, --version|--base-url|--api-key-file|--api-key-command|--profile|--state-dir|--ca-file|--no-color".split("|");

	it("stand in `help options`, and in no other help", async () => {
		expect(shown((await ragtag(["help", "options"])).stdout)).toEqual(GLOBAL);
		for (const command of commands.keys()) {
			const own = shown(await helpOf(command, "--help"));
			expect(own.filter((flag) => GLOBAL.includes(flag))).toEqual(command === "" ? ["-V, --version"] : []);
		}
	});
});
