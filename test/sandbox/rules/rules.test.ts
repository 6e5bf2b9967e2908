import { test } from "vitest";
import * as by from "../support.ts";
import { releases } from "../flavours/support.ts";
import { checkRelease } from "./every-rule.ts";

test.each(releases)("%s answers as its code and the public tests of RAGFlow's API say", async (flavour) => {
	await checkRelease(await by.start({ flavour, ties: "stable" }), flavour);
});
