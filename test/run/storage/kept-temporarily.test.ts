import { mkdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { CliError, Exit } from "../../../src/errors.ts";
import { withTemporaryStorage } from "../../../src/run/storage/temporary-folders.ts";

const failing = (error: unknown) => withTemporaryStorage("the plan", () => Promise.reject(error), "nothing was sent");

it("names what could not be stored, why, and where there may be space", async () => {
	const made = withTemporaryStorage("the plan", () => mkdir("/dev/null/folder"), "nothing was sent");
	await expect(made).rejects.toMatchObject({
		message: "the plan can't be kept in the temporary folder: not a directory; nothing was sent",
		exit: Exit.storage,
		hint: "Free some space there, or name another folder with --state-dir.",
	});
});

it.each([
	["a fault of the program", new TypeError("x is not a function")],
	["what a list said of itself", new CliError("the list is short", { exit: Exit.failedRows })],
])("does not blame the storage for other errors: %s", async (_, error) => {
	await expect(failing(error)).rejects.toBe(error);
});
