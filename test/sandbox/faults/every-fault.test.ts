import { describe, expect, test } from "vitest";
import type { FaultPlan } from "../../../src/sandbox/faults/plan.ts";
import { faultKinds } from "../../../src/sandbox/faults/table.ts";
import { expectFired, SHORT_FAULTS } from "../../support/faults.ts";
import * as by from "../support.ts";
import { exchange, storedMetadata, requestText, updateText } from "./wire.ts";
import { idOf } from "../../support/service.ts";

const variants = [...faultKinds].flatMap(([name, { when }]) => when.map((each) => [name, each] as const));

describe("every fault", () => {
	test.each(variants)("%s, %s: fires once, and the ledger tells if the update was applied", async (fault, when) => {
		const faults: FaultPlan = {
			faults: [{ fault, when, ...SHORT_FAULTS[fault], on: { method: methodOf(fault), times: 1 } }],
		};
		const sandbox = await by.start({ documents: 20, control: true });
		const id = idOf(10);
		// The answer that `shifted` sends again.
		await by.put(sandbox, sandbox.datasetId ?? "", idOf(11), "{}");
		sandbox.control?.setPlan(faults);
		const dataset = sandbox.datasetId ?? "";
		const closing = ["Connection: close"];
		if (fault === "upload-answer") {
			await by.upload(sandbox, dataset, "a.txt");
		} else if (fault.startsWith("list-")) {
			for (const page of [1, 2, 3]) {
				const path = `${by.documentsPath(dataset)}?page=${page}&page_size=5`;
				await exchange(sandbox.port, requestText(sandbox, "GET", path, { headers: closing }));
			}
		} else {
			await exchange(sandbox.port, updateText(sandbox, id, closing), { until: (text) => text.length > 200_000 });
		}
		expectFired(sandbox);
		expect(sandbox.control?.plan()[0]).toMatchObject({ fired: 1 });
		await expect
			.poll(() => sandbox.control?.ledger().filter((entry) => "fault" in entry && entry.fault))
			.toEqual([expect.objectContaining({ fault: { name: fault, index: 0, when } })]);
		if (methodOf(fault) !== "PUT") return;
		const applied = sandbox.control?.ledger().filter((entry) => entry.type === "applied" && entry.document === id);
		expect(applied).toHaveLength(when === "after" ? 1 : 0);
		sandbox.control?.setPlan({ faults: [] });
		await expect
			.poll(() => storedMetadata(sandbox, id).catch(() => "not back yet"))
			.toBe(when === "after" ? '{"author":"Ana"}' : "{}");
	});
});

function methodOf(fault: string): string {
	if (fault === "upload-answer") return "POST";
	return fault.startsWith("list-") ? "GET" : "PUT";
}
