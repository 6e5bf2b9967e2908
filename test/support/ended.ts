import { expect } from "vitest";
import type { Ended } from "./ragtag.ts";
import { summaryOf } from "./values.ts";

/** A `--json` run that ends with this exit code, which its summary names too, and whose summary has these members. */
export async function ends<End extends Ended>(run: Promise<End> | End, exit: number, members: object): Promise<End> {
	const ended = await run;
	expect([ended.exit, summaryOf(ended.stdout)]).toMatchObject([exit, { ...members, exit_code: exit }]);
	return ended;
}

/** A command that ends with this exit code, and says each of this on standard error. */
export async function says<End extends Ended>(
	command: Promise<End> | End,
	exit: number,
	...texts: readonly (string | RegExp)[]
): Promise<End> {
	const ended = await command;
	for (const text of texts) {
		const said: unknown = typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text);
		expect([ended.exit, ended.stderr]).toEqual([exit, said]);
	}
	return ended;
}
