import { describe, expect, it } from "vitest";
import { nextCommand } from "../../../src/commands/doctor/checks.ts";
import type { Check } from "../../../src/report/checks.ts";
import { safeRate } from "../../../src/rates.ts";

it.each([
	[0, 100],
	[5, 100],
	[640, 100],
	[641, 99],
	[1_000, 64],
	[2_000, 32],
	[64_000, 1],
	[200_000, 1],
])("at %i ms an answer, %i requests a second are safe", (latency, rate) => {
	expect(safeRate(latency)).toBe(rate);
});

describe("the next command can be typed as it stands", () => {
	const dataset = { id: "it's", documents: 3 };
	it.each([
		[undefined, {}, "ragtag datasets create NAME"],
		[{ ...dataset, documents: 0 }, {}, String.raw`ragtag docs upload FILE... -d 'it'\''s'`],
		[{ ...dataset, id: "d1" }, { profile: "p q" }, "ragtag manifest init -d d1 --out tags.csv --profile 'p q'"],
	])("%j with %j: %s", (chosen, flags, command) => {
		expect(nextCommand(undefined, chosen, flags)).toBe(command);
	});

	it("it does not repeat a flag that it sets", () => {
		const check: Check = { name: "key", status: "failed", text: "", next: "ragtag doctor --api-key-file PATH" };
		expect(nextCommand(check, undefined, { apiKeyFile: "old.key", baseUrl: "http://h" })).toBe(
			"ragtag doctor --api-key-file PATH --base-url http://h",
		);
	});
});
