import { expect } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { putReleases } from "../flavours/support.ts";
import { datasetRules } from "./datasets.ts";
import { listRules } from "./list.ts";
import { downloadRules, removeRules } from "./remove.ts";
import { parseRules } from "./parse.ts";
import { checkRule, type Rule, scene } from "./rule.ts";
import { updateRules } from "./update.ts";
import { uploadRules } from "./upload.ts";

const tables: readonly (readonly [string, readonly Rule[]])[] = [
	["lists of documents", listRules],
	["uploads", uploadRules],
	["updates", updateRules],
	["removals", removeRules],
	["downloads", downloadRules],
	["parsing", parseRules],
	["datasets", datasetRules],
];

/** Holds a sandbox of that release to all rules. It must be new, and list what was made in one moment in that order. */
export async function checkRelease(sandbox: by.Target, flavour: Flavour): Promise<void> {
	await by.createDataset(sandbox, "taken");
	for (const [table, rules] of tables) {
		for (const [at, rule] of rules.entries()) await checkRule(rule, flavour, await scene(sandbox, `${table} ${at}`));
	}
	await checkKeys(sandbox, flavour);
}

/** Each route refuses a missing key and a wrong one; v0.25 and later accept a key without the word Bearer. */
async function checkKeys(sandbox: by.Target, flavour: Flavour): Promise<void> {
	const documents = "/api/v1/datasets/dataset_id/documents";
	const routes = [
		...["GET", "POST", "DELETE"].map((method) => `${method} ${documents}`),
		...["GET", "POST", "DELETE"].map((method) => `${method} /api/v1/datasets`),
		`GET ${documents}/document_id`,
		"POST /api/v1/datasets/dataset_id/chunks",
		`${flavour >= "ragflow-0.25" ? "PATCH" : "PUT"} ${documents}/document_id`,
		"PUT /api/v1/datasets/dataset_id",
	];
	const bare = (authorization: string) => ({ key: null, headers: { authorization } });
	for (const authorization of isPut(flavour) ? ["", "Bearer", sandbox.key] : []) {
		const answer = await by.send(sandbox, "GET", "/api/v1/datasets", bare(authorization));
		expect(answer).toMatchObject({
			status: 200,
			code: 0,
			data: false,
			message: expect.stringMatching(/authorization/i),
		});
	}
	if (!isPut(flavour))
		expect(await by.send(sandbox, "GET", "/api/v1/datasets", bare(sandbox.key))).toMatchObject({ code: 0 });
	for (const route of routes) {
		const [method = "", path = ""] = route.split(" ");
		const [none, wrong] = [null, "wrong-key"].map((key) => by.send(sandbox, method, path, { key }));
		// v0.25.0 has two checks of keys: removals, downloads and parsing use the older one.
		const older =
			isPut(flavour) ||
			(flavour === "ragflow-0.25" &&
				/^DELETE .*documents$|document_id$|chunks$/.test(route) &&
				!route.startsWith("PATCH"));
		const status = isPut(flavour) ? 200 : 401;
		expect([route, await none]).toMatchObject([route, { status, code: older ? 0 : 401 }]);
		expect([route, await wrong]).toMatchObject([route, { status, code: older ? 109 : 401 }]);
		if (!older || isPut(flavour)) continue;
		const alone = await by.send(sandbox, method, path, bare(sandbox.key));
		expect([route, alone]).toMatchObject([route, { status, code: 109, data: null }]);
	}
}

function isPut(flavour: string): boolean {
	return putReleases.some((each) => each === flavour);
}
