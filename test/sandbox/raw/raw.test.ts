import { expect, it } from "vitest";
import * as by from "../support.ts";
import { filters, pages } from "./lists.ts";
import { batches, counted, paths, removals, updates, uploads } from "./others.ts";
import { answerTo, rawScene, type Raw } from "./raw.ts";

const reads: readonly Raw[] = [...pages, ...filters, ...counted, ...paths];
const writes: readonly Raw[] = [...uploads, ...removals, ...updates, ...batches];

it.each([
	["ragflow-0.21", "PUT"],
	["ragflow-0.27", "PATCH"],
] as const)("each raw request is answered as the code of the release does: %s", async (flavour, verb) => {
	const sandbox = await by.start({ flavour, ties: "stable" });
	const shared = await rawScene(sandbox, "read", verb);
	const differing: string[] = [];
	for (const [at, [request, v21, v27 = v21]] of [...reads, ...writes].entries()) {
		const scene = at < reads.length ? shared : await rawScene(sandbox, `write ${at}`, verb);
		const answer = await answerTo(request.replace(/^V /, `${verb} `), scene);
		const expected = flavour === "ragflow-0.21" ? v21 : v27;
		if (answer !== expected) differing.push(`${request}\n  ${answer}\n  ${expected}`);
	}
	expect(differing.join("\n")).toBe("");
});
