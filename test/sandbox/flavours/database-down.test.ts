import { expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { names, releases, serve, stored, update } from "./support.ts";

const refused = "Can't connect to MySQL server on 'mysql' ([Errno 111] Connection refused)";
const numbered = { status: 200, code: 100, message: "2003", data: refused };
const printed = { status: 200, code: 100, message: `OperationalError(2003, "${refused}")`, data: null };
const unauthorized = { status: 401, code: 401, data: null };

const answers: readonly (readonly [Flavour, object, object])[] = [
	["documented", { status: 503, code: 503 }, { status: 503, code: 503 }],
	["ragflow-0.18", numbered, numbered],
	["ragflow-0.21", numbered, numbered],
	["ragflow-0.23", numbered, numbered],
	["ragflow-0.24", printed, printed],
	["ragflow-0.25", unauthorized, printed],
	["ragflow-0.26", unauthorized, unauthorized],
	["ragflow-0.27", unauthorized, unauthorized],
];

/** Long enough for all requests of a test. */
const long = { fault: "database-away", milliseconds: 60_000 };

test.each(answers)("without its database %s answers every request in its own way, and applies none", async (...row) => {
	const [flavour, answer, removal] = row;
	const place = await serve(flavour, ["a.txt"], { control: true });
	const { sandbox, dataset, ids } = place;
	sandbox.control?.setPlan({ faults: [{ ...long, on: { nth: 1 } }] });
	expect(await update(place, flavour, '{"author":"Ana"}')).toMatchObject(answer);
	expect(await update(place, flavour, '{"author":"Ana"}')).toMatchObject(answer);
	expect(await by.list(sandbox, dataset)).toMatchObject(answer);
	expect(await by.send(sandbox, "GET", "/api/v1/datasets", { key: "wrong-key" })).toMatchObject(
		flavour === "documented" ? { status: 401 } : answer,
	);
	const sent = { headers: by.jsonHeader, body: JSON.stringify({ ids }) };
	if (flavour !== "documented")
		expect(await by.send(sandbox, "DELETE", by.documentsPath(dataset), sent)).toMatchObject(removal);
	expect(sandbox.control?.ledger().filter(({ type }) => type === "applied")).toHaveLength(2);
});

test.each(releases)("%s has all its data when the database is back, with the last update", async (flavour) => {
	const place = await serve(flavour, ["a.txt"], { control: true });
	const fault = { fault: "database-away", milliseconds: 40, when: "after", on: { nth: 1 } } as const;
	place.sandbox.control?.setPlan({ faults: [fault] });
	expect((await update(place, flavour, '{"author":"Ana"}')).code).not.toBe(0);
	await expect.poll(() => names(place).catch(() => "away")).toEqual(["a.txt"]);
	expect(await stored(place)).toBe('{"author":"Ana"}');
});
