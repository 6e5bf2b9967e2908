import { describe, expect, test } from "vitest";
import type { RawAnswer } from "../../src/rest/answer.ts";
import type { Call } from "../../src/rest/attempt.ts";
import { Decoder } from "../../src/rest/decode.ts";
import { RestError } from "../../src/rest/errors.ts";
import { documentCalls, Requests, type Service } from "../../src/rest/requests.ts";
import type { Api, Dialect, Echo } from "../../src/rest/types.ts";
import { ragflow1 } from "../support/flavours.ts";

const context = { host: "host:1", redact: (text: string) => text };
const fields = new Map([["author", "x"]]);

function updating(dialect: Dialect, send: (call: Call<Echo>) => Echo): Api["updateMetadata"] {
	const service: Service = {
		context,
		prefix: "/api/v1",
		isKeyAccepted: false,
		decode: new Decoder(context),
		onBytes: undefined,
		lists: { page: (_what, _page, request) => request() },
		listed: new WeakSet(),
		transport: {
			// oxlint-disable-next-line require-await -- what `send` throws is a rejection, as of a transport
			send: async <Result>(call: Call<Result>) => send(call as Call<unknown> as Call<Echo>) as Result,
			close: () => Promise.resolve(),
		},
	};
	return documentCalls(new Requests(dialect, service)).updateMetadata;
}

/** The result of reading an answer, as text that can be compared. */
async function resultOf(update: () => Promise<Echo>): Promise<string> {
	try {
		return await update();
	} catch (error) {
		return error instanceof RestError ? `${error.kind} ${error.code} ${error.message}` : String(error);
	}
}

describe("a success that shows no metadata for its document", () => {
	const answer = (data: unknown): RawAnswer => ({
		status: 200,
		headers: [],
		bytes: Buffer.from(JSON.stringify({ code: 0, data })),
	});
	const shown = answer({ id: "d1", meta_fields: { author: "x" } });
	const bare = answer({ id: "d1" });
	const results = async (answers: readonly RawAnswer[], sent = fields): Promise<string[]> => {
		const left = [...answers];
		const update = updating({ flavour: ragflow1, form: "json" }, (call) => call.read(left.shift() ?? bare));
		const all: string[] = [];
		for (const _ of answers) {
			const result = await resultOf(() => update("ds", "d1", sent));
			all.push(result.split(" ").slice(0, 2).join(" "));
		}
		return all;
	};

	test("is a loss where v1.0 has shown it before: its search engine refused the values", async () => {
		expect(await results([shown, bare, shown])).toEqual([
			"id_and_metadata",
			"rejected METADATA_REFUSED",
			"id_and_metadata",
		]);
	});

	test("says nothing where no answer shows any, or none was sent", async () => {
		expect(await results([bare, bare])).toEqual(["id", "id"]);
		expect(await results([shown, bare], new Map())).toEqual(["id_and_metadata", "id_and_metadata"]);
	});
});
