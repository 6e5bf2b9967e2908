import { test } from "vitest";
import { startBuiltSandbox } from "../../support/built-sandbox.ts";
import { partOf } from "../../support/whole.ts";
import { releases } from "../flavours/support.ts";
import * as by from "../support.ts";
import { checkRelease } from "./every-rule.ts";

test.each(releases)("%s answers as its code and the public tests of RAGFlow's API say", async (flavour) => {
	await checkRelease(await by.start({ flavour, ties: "stable" }), flavour);
});

// What users start is the built program, which once read its own letters wrong.
test.each(partOf(releases, 4))("%s answers as its rules say, in the program that users start", async (flavour) => {
	await checkRelease(await startBuiltSandbox(["--flavour", flavour, "--ties", "stable"]), flavour);
});
