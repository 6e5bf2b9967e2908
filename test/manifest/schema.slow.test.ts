import { describe, expect, test } from "vitest";
import { Exit } from "../../src/errors.ts";
import { isJsonObject, type JsonValue } from "../../src/json/values.ts";
import { readSchema } from "../../src/manifest/rows/schema.ts";
import { checkBytes, file, withFolder } from "./support.ts";

const ENDLESS = "a".repeat(40);

/** A schema of one more `$ref` than it has steps, each followed twice. */
function ladder(last: JsonValue, steps = 40): JsonValue {
	const $defs: Record<string, JsonValue> = {};
	for (let step = 0; step < steps; step++) {
		const $ref = `#/$defs/step${step + 1}`;
		$defs[`step${step}`] = step === steps - 1 ? last : { allOf: [{ $ref }, { $ref }] };
	}
	return { $defs, $ref: "#/$defs/step0" };
}

describe("a schema whose check never ends is exit 2, and the message names what takes so long", () => {
	const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key${index}`, { type: "string" }]));
	const table: readonly (readonly [what: string, schema: JsonValue, why: string])[] = [
		["a pattern", { properties: { a: { pattern: "^(a+)+$" } } }, "it takes more than 1 s to check line 3"],
		["a pattern of names", { patternProperties: { "^(a+)+$": {} } }, "it takes more than 1 s to check line 2"],
		["a $ref that is followed twice, 40 times", ladder({ type: "object" }), "it takes more than 1 s to check a row"],
		["the same where nothing meets it", ladder({ required: ["b"] }), "it takes more than 1 s to check a row"],
		["100,000 properties", { properties: wide }, "it takes more than 5 s to prepare"],
		["a schema that is itself", { $ref: "#" }, "a $ref in it leads back to itself"],
		["a property like itself", { properties: { a: { $ref: "#/properties/a" } } }, "a $ref in it leads back to itself"],
		["two that are each other", { properties: { a: { $ref: "#" } }, allOf: [{ $ref: "#" }] }, "leads back to itself"],
	];
	test.each(table)("%s", async (_, schema, why) => {
		const text = `document_id,a,${ENDLESS}!\n1,x,x\n2,${ENDLESS}!,x\n`;
		await expect(checkBytes(text, { schema })).rejects.toMatchObject({
			exit: Exit.usage,
			message: expect.stringContaining(why),
		});
	});
});

describe("what every object inherits is no member of a row", () => {
	test.each<[what: string, schema: JsonValue, row: string, isGood: boolean]>([
		["required", { required: ["toString"] }, "{}", false],
		["required, and there", { required: ["toString"] }, '{"toString":"x"}', true],
		["required inside", { properties: { a: { required: ["constructor"] } } }, '{"a":{}}', false],
		["a property of another type", { properties: { valueOf: { type: "string" } } }, "{}", true],
		["a dependent one", { dependentRequired: { hasOwnProperty: ["x"] } }, '{"a":1}', true],
		["counted", { maxProperties: 0 }, "{}", true],
		["__proto__, required", { required: ["__proto__"] }, "{}", false],
		["__proto__, there", { required: ["__proto__"] }, '{"__proto__":1}', true],
		["const in another order", { properties: { a: { const: { b: 1, c: 2 } } } }, '{"a":{"c":2,"b":1}}', true],
	])("%s", async (_, schema, row, isGood) => {
		const text = `[{"document_id":"1","meta_fields":${row}}]`;
		for (const $schema of [undefined, "http://json-schema.org/draft-07/schema#"]) {
			if ($schema !== undefined && JSON.stringify(schema).includes("dependentRequired")) continue;
			const all = $schema === undefined || !isJsonObject(schema) ? schema : { ...schema, $schema };
			expect((await checkBytes(text, { schema: all })).checked.problems).toBe(isGood ? 0 : 1);
		}
	});
});

test("one row has a hundred faults by its schema at most", async () => {
	const text = `{"document_id":"1","a":[${"1,".repeat(1000)}1]}\n`;
	const { checked } = await checkBytes(text, { schema: { properties: { a: { items: { type: "string" } } } } });
	expect(checked).toMatchObject({ problems: 100, invalid: 1 });
});

test("a schema is a file or a pipe of bounded size: anything else would be read without end", async () => {
	await expect(readSchema("/dev/zero")).rejects.toMatchObject({
		exit: Exit.usage,
		message: expect.stringContaining("it is no regular file"),
	});
	await withFolder(async (folder) => {
		const large = await file(folder, "large.json", `{"x":"${"x".repeat(4 * 1024 * 1024)}"}`);
		await expect(readSchema(large)).rejects.toMatchObject({
			exit: Exit.usage,
			message: expect.stringContaining("it is longer than 4194304 bytes"),
		});
	});
});
