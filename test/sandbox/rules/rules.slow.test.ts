import { test } from "vitest";
import { startBuiltSandbox } from "../../support/built-sandbox.ts";
import { releases } from "../flavours/support.ts";
import { checkRelease } from "./every-rule.ts";

// What users start is the built program, which once read its own letters wrong. test/sandbox/rules/rules.test.ts has the same
// rules for the sources: only those count for the coverage, and they need no process.
test.each(releases)("%s answers as its rules say, in the program that users start", async (flavour) => {
	await checkRelease(await startBuiltSandbox(["--flavour", flavour, "--ties", "stable"]), flavour);
});
