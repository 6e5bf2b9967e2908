import { expect, it } from "vitest";
import * as by from "../support.ts";
import { filters, pages } from "./lists.ts";
import { answerTo, rawScene, type Raw } from "./raw.ts";

const reads: readonly Raw[] = [...pages, ...filters];

it.each([
	["ragflow-0.21", "PUT"],
	["ragflow-0.27", "PATCH"],
] as const)("each raw request is answered as the code of the release does: %s", async (flavour, verb) => {
	const sandbox = await by.start({ flavour, ties: "stable" });
	const scene = await rawScene(sandbox, "raw", verb);
	const differing: string[] = [];
	for (const [request, v21, v27 = v21] of reads) {
		const answer = await answerTo(request, scene);
		const expected = flavour === "ragflow-0.21" ? v21 : v27;
		if (answer !== expected) differing.push(`${request}\n  ${answer}\n  ${expected}`);
	}
	expect(differing.join("\n")).toBe("");
	expect(reads.length).toBeGreaterThan(150);
});
