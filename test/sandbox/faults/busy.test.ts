import { expect, test } from "vitest";
import { serve, update } from "../flavours/support.ts";
import * as by from "../support.ts";

test.each([
	{ which: "all", before: '{"author":"Zoe"}' },
	{ which: "first-metadata", before: "{}" },
])("a list waits until a change of a document with $before holds the server no longer, with $which", async (row) => {
	const { which, before } = row;
	const place = await serve("ragflow-0.27", ["a.txt"], { control: true });
	if (before !== "{}") await update(place, "ragflow-0.27", before);
	const { control } = place.sandbox;
	control?.reset();
	control?.setPlan({ faults: [{ fault: "busy", milliseconds: 300, which }] });
	const ended: string[] = [];
	const written = update(place, "ragflow-0.27", '{"author":"Ana"}').then(() => ended.push("update"));
	await expect.poll(() => control?.ledger().some(({ type }) => type === "applied")).toBe(true);
	const listed = by.list(place.sandbox, place.dataset).then(() => ended.push("list"));
	await Promise.all([written, listed]);
	expect(ended).toEqual(["update", "list"]);
});

test("a later change holds nothing where only the first metadata do", async () => {
	const place = await serve("ragflow-0.27", ["a.txt"], { control: true });
	await update(place, "ragflow-0.27", '{"author":"Zoe"}');
	place.sandbox.control?.setPlan({ faults: [{ fault: "busy", milliseconds: 3_600_000, which: "first-metadata" }] });
	expect(await update(place, "ragflow-0.27", '{"author":"Ana"}')).toMatchObject({ code: 0 });
	expect(await by.list(place.sandbox, place.dataset)).toMatchObject({ code: 0 });
});
