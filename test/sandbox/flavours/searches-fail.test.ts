import { expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { serve, update } from "./support.ts";

const shown: readonly (readonly [Flavour, string])[] = [
	["documented", '{"author":"Ana"}'],
	["ragflow-0.18", '{"author":"Ana"}'],
	["ragflow-0.23", '{"author":"Ana"}'],
	["ragflow-0.24", "{}"],
	["ragflow-0.25", "{}"],
	["ragflow-0.26", "{}"],
	["ragflow-0.27", "{}"],
];

test.each(shown)("while searches fail, a list of %s succeeds and shows %s, and updates are applied", async (...row) => {
	const [flavour, metadata] = row;
	const place = await serve(flavour, ["a.txt"], { control: true });
	const { sandbox, dataset } = place;
	await update(place, flavour, '{"author":"Zoe"}');
	const fault = { fault: "searches-fail", milliseconds: 60_000, on: { nth: 2 } };
	sandbox.control?.setPlan({ faults: [fault] });
	expect((await by.list(sandbox, dataset)).text).toContain('"meta_fields":{"author":"Zoe"}');
	expect(await update(place, flavour, '{"author":"Ana"}')).toMatchObject({ code: 0 });
	const list = await by.list(sandbox, dataset);
	expect(list).toMatchObject({ code: 0 });
	expect(list.text).toContain(`"meta_fields":${metadata}`);
	sandbox.control?.reset();
	expect((await by.list(sandbox, dataset)).text).toContain('"meta_fields":{"author":"Ana"}');
});

test.each(["ragflow-0.24", "ragflow-0.27"] as const)("while they fail, %s filters nothing out", async (flavour) => {
	const place = await serve(flavour, ["a.txt"], { control: true });
	await update(place, flavour, '{"author":"Ana"}');
	place.sandbox.control?.setPlan({ faults: [{ fault: "searches-fail", milliseconds: 60_000, on: { nth: 2 } }] });
	const condition = { conditions: [{ name: "author", comparison_operator: "is", value: "Ana" }] };
	const query = { metadata_condition: JSON.stringify(condition) };
	expect((await by.list(place.sandbox, place.dataset, query)).text).toContain('"total":1');
	expect(await by.list(place.sandbox, place.dataset, query)).toMatchObject({ code: 0, data: { docs: [], total: 0 } });
});

test.each(["ragflow-0.24", "ragflow-0.27"] as const)(
	"while the engine of %s is away, updates are refused, and the document keeps what it had",
	async (flavour) => {
		const place = await serve(flavour, ["a.txt"], { control: true });
		await update(place, flavour, '{"author":"Zoe"}');
		const fault = { fault: "searches-fail", updates: "refused", milliseconds: 60_000, on: { nth: 1 } };
		place.sandbox.control?.setPlan({ faults: [fault] });
		expect((await by.list(place.sandbox, place.dataset)).text).toContain('"meta_fields":{}');
		const refused = { code: 102, message: "Failed to update metadata" };
		expect(await update(place, flavour, '{"author":"Ana"}')).toMatchObject(refused);
		place.sandbox.control?.reset();
		expect((await by.list(place.sandbox, place.dataset)).text).toContain('"meta_fields":{"author":"Zoe"}');
	},
);
