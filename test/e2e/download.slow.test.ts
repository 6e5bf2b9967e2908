import { expect, it } from "vitest";
import { backUpAndRestore } from "../support/backup.ts";

it.each(["ragflow-0.21", "ragflow-0.27", "ragflow-1.0"] as const)(
	"1,000 documents come back with the same names, bytes and metadata (%s)",
	{ timeout: 240_000 },
	async (flavour) => {
		await expect(backUpAndRestore(1_000, flavour)).resolves.toBeUndefined();
	},
);
