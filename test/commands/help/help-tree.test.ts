import { describe, expect, it } from "vitest";
import { helpEntries } from "../../support/help-tree.ts";
import { ragtag } from "../../support/ragtag.ts";
import { at, items, parseLines } from "../../support/values.ts";

async function entry(command: string): Promise<unknown> {
	return (await helpEntries()).find((one) => at(one, "command") === command);
}

describe("ragtag help --json", () => {
	it("has what an editor or another program needs of an option", async () => {
		const options = items(at(await entry("docs tag"), "options"));
		const option = (flag: string): unknown => options.find((one) => at(one, "flag") === flag);
		expect(option("--mode")).toEqual({
			flag: "--mode",
			short: null,
			value: "mode",
			repeatable: false,
			choices: ["replace", "merge"],
			default: "replace",
			description: expect.stringContaining("merge"),
			group: "What to write",
		});
		expect(option("--set")).toMatchObject({ value: "key=value", repeatable: true, choices: null, default: null });
		expect(option("--dry-run")).toMatchObject({ value: null, group: "Check first" });
		expect(option("--dataset")).toMatchObject({ short: "-d", group: "Which documents" });
	});

	it("has the arguments and the examples of a command", async () => {
		const rm = await entry("docs rm");
		expect(items(at(rm, "arguments"))).toMatchObject([{ name: "manifest", required: false, variadic: false }]);
		expect(items(at(rm, "examples"))).toContain("ragtag docs rm old.csv -d DATASET");
	});

	it("has every exit code that the program may end with", async () => {
		const codes = items(at(parseLines((await ragtag(["help", "--json"])).stdout)[1], "exit_codes")).map((one) =>
			at(one, "code"),
		);
		expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 70, 74, 129, 130, 143]);
	});
});
