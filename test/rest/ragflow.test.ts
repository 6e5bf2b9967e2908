import { describe, expect, it } from "vitest";
import { answerOf } from "./decoded.ts";
import { classifyAnswer } from "../../src/rest/classify.ts";
import { isDatabaseAway } from "../../src/rest/ragflow.ts";
import { DATABASE_AWAY } from "../../src/rest/errors.ts";
import { flavours } from "../../src/rest/flavours.ts";
import { ragflowPatch, ragflowPut } from "../support/flavours.ts";

const refused = "Can't connect to MySQL server on 'mysql' ([Errno 111] Connection refused)";

describe("answers while the database is away: read as refusals, they would fail every row of the manifest", () => {
	it.each([
		[100, "2003"],
		[100, "0"],
		[100, "1040"],
		[100, "1053"],
		[100, "1205"],
		[100, "1213"],
		[100, "2006"],
		[100, " 2013 "],
		[100, `OperationalError(2003, "${refused}")`],
		[100, "OperationalError(2013, 'Lost connection to MySQL server during query')"],
		[100, `OperationalError(OperationalError(2003, "${refused}"), 2003, "${refused}")`],
		[100, "InterfaceError(0, '')"],
		[100, "InterfaceError(\"(0, '')\")"],
		[
			100,
			`OperationalError('connection to server at "db" (172.18.0.2), port 5432 failed: Connection refused\\n\\tIs the server running')`,
		],
		[100, "OperationalError('FATAL:  the database system is starting up')"],
		[102, "Database operation failed"],
	])("%i %s", (code, message) => {
		expect(isDatabaseAway(code, message)).toBe(true);
		for (const flavour of flavours) expect(flavour.meaning(code, message)).toBe("database_away");
	});

	it.each([
		[100, "1267"],
		[100, "1062"],
		[100, "1406"],
		[100, "12003"],
		[100, "2003 rows"],
		[100, ""],
		[100, 'OperationalError(1267, "Illegal mix of collations")'],
		[100, "OperationalError('no such table: document')"],
		[100, "KeyError('2003')"],
		[100, "KeyError(2003)"],
		[100, "<MethodNotAllowed '405: Method Not Allowed'>"],
		[102, "2003"],
		[101, "2003"],
		[102, "Database operation failed: a name is taken"],
	])("not %i %s, which no later attempt changes", (code, message) => {
		expect(isDatabaseAway(code, message)).toBe(false);
	});
});

const context = { host: "host:1", redact: (text: string) => text };
const classify = (status: number, answer: object, accepted = false) =>
	classifyAnswer(answerOf(status, JSON.stringify(answer)), {
		flavour: ragflowPut,
		context,
		now: 0,
		isKeyAccepted: accepted,
	});

describe("the message for a person", () => {
	it("has the words of data: 2003 alone explains nothing", () => {
		expect(classify(200, { code: 100, data: refused, message: "2003" })).toMatchObject({
			kind: "ambiguous",
			code: DATABASE_AWAY,
			message: `host:1 answered code 100 "2003", with "${refused}": its database is away`,
		});
	});

	it.each([null, 5, "", "  ", ["x"], { x: 1 }])("has no data that is not text: %j", (data) => {
		expect(classify(200, { code: 102, data, message: "no" })).toMatchObject({
			message: 'host:1 answered code 102 "no"',
		});
	});
});

describe("a key that is refused after it was accepted", () => {
	it.each([
		[401, { code: 401, message: "Unauthorized" }],
		[401, {}],
		[200, { code: 401, message: "Unauthorized" }],
	])("may be a database that is away: %i %j", (status, answer) => {
		expect(classify(status, answer)).toMatchObject({ kind: "untrusted", code: "KEY_REJECTED" });
		expect(classify(status, answer, true)).toMatchObject({ kind: "doubted", code: "KEY_REJECTED", status });
	});

	it.each([
		[200, { code: 109, message: "Authentication error: API key is invalid!" }],
		[200, { code: 0, data: false, message: "`Authorization` can't be empty" }],
	])("is refused if the server has checked it: %i %j", (status, answer) => {
		expect(classify(status, answer, true)).toMatchObject({ kind: "untrusted", code: "KEY_REJECTED" });
	});
});

it("an error inside a route may follow its write: it is not a definite refusal", () => {
	expect(ragflowPatch.meaning(102, "Internal server error")).toBe("passing");
});
