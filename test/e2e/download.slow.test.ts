import { expect, it } from "vitest";
import { backUpAndRestore } from "../support/backup.ts";

/** Several pages of a list on each, and many on one. */
it.each([
	[250, "ragflow-0.21"],
	[1_000, "ragflow-0.27"],
	[250, "ragflow-1.0"],
] as const)("%i documents come back with the same names, bytes and metadata (%s)", async (count, flavour) => {
	await expect(backUpAndRestore(count, flavour)).resolves.toBeUndefined();
});
