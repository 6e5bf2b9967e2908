import { changeOf } from "../../../src/plan/change.ts";
import { describe, expect, it } from "vitest";
import { documented } from "../../../src/rest/flavours.ts";
import type { Api, Dialect } from "../../../src/rest/types.ts";
import { type Operation, type Sending, type SentLog } from "../../../src/run/operations/operation.ts";
import { planMetadata } from "../../../src/run/operations/update.ts";
import type { Work } from "../../../src/run/types.ts";
import { documentOf, fakeApi } from "../fake-api.ts";
import { memoryOf, serviceOf, unrecorded } from "../fake-service.ts";
import { failure, start, updating } from "../harness.ts";
import { ragflowPatch } from "../../support/flavours.ts";

/** RAGFlow v0.27, of which `isAsked` says whether it may be asked what it is. */
function server(isAsked: boolean): { readonly api: Api; readonly asked: string[] } {
	const asked: string[] = [];
	const as = (dialect: Dialect): Api =>
		fakeApi([], {
			dialect,
			as,
			probeList: async () => "ragflow",
			probeUpdate: async (verb) => {
				if (!isAsked) throw new Error("it was asked what it is");
				asked.push(verb);
				return "in_its_words";
			},
		});
	return { api: as({ flavour: documented, form: "multipart" }), asked };
}

describe("a contradiction in any request of a row", () => {
	it.each([
		["a list", { code: "CODE_102", status: 200 }],
		["an upload", { code: "CODE_100", status: 200 }],
		["a removal", { code: "HTTP_405", status: 405 }],
	])("repeats the attempt in the flavour that is detected then: %s", async (_, answer) => {
		const { api, asked } = server(true);
		const knowledge = { flavour: documented, form: "multipart", proven: "document_id", how: "it was seen" } as const;
		const memory = { load: async () => ({ ...knowledge, foundAt: 0 }), save: async () => undefined };
		const service = serviceOf(api, { memory, now: () => 1 });
		const tries: string[] = [];
		const operation = updating(() => {
			const { flavour } = service.api.dialect;
			tries.push(flavour.name);
			if (flavour === documented) throw failure("contradiction", answer);
		});
		const { clock, done, outcomes } = start(operation, { rows: 1, service });
		await clock.until(done);
		expect(outcomes).toMatchObject([{ status: "updated", documentId: "doc-0", attempts: 1 }]);
		expect(tries).toEqual(["documented", "ragflow-patch"]);
		expect(asked).toEqual(["PATCH", "PUT"]);
	});

	it("fails the row if the flavour was given, and does not end the run", async () => {
		const { api } = server(false);
		const service = serviceOf(api, { flavour: { value: ragflowPatch, origin: "--flavour" } });
		const operation = updating(() => {
			throw failure("contradiction", { code: "CODE_100", status: 200 });
		});
		const { clock, done, outcomes } = start(operation, { rows: 1, service });
		expect(await clock.until(done)).toBeUndefined();
		expect(outcomes).toMatchObject([{ status: "failed", error: { code: "CODE_100" }, attempts: 1 }]);
	});

	it("records an update once that is sent again in another flavour, and counts it as unchanged if it changes nothing", async () => {
		const sent: string[] = [];
		const present = new Map([["a", 1]]);
		const as = (dialect: Dialect): Api =>
			fakeApi([], {
				dialect,
				as,
				probeList: async () => "ragflow",
				probeUpdate: async (verb) => (verb === "PATCH" ? "in_its_words" : "wrong_verb"),
				listDocuments: async () => ({ items: [documentOf("doc-0", present)], total: 1 }),
				updateMetadata: async () => {
					sent.push(dialect.flavour.name);
					if (dialect.flavour === documented) throw failure("contradiction", { code: "HTTP_405", status: 405 });
					return "document_id";
				},
			});
		const service = serviceOf(as({ flavour: documented, form: "multipart" }), {
			memory: memoryOf({ flavour: documented, form: "multipart", proven: undefined, how: "it was seen", foundAt: 0 }),
		});
		service.canary.unreadable();
		const records: Sending[] = [];
		const log: SentLog = { ...unrecorded, sending: async (_, sending) => void records.push(sending) };
		const plan = {
			documents: { byId: async () => ({ metadata: present }) },
			change: changeOf("replace"),
			onlyChanged: false,
		};
		const update = planMetadata(service, plan, log);
		const operation: Operation<Work> = (item, request, memory) =>
			update({ ...item, metadata: present }, request, memory);
		const { clock, done, outcomes } = start(operation, { rows: 1, service });
		await clock.until(done);
		expect(outcomes).toMatchObject([{ status: "updated", documentId: "doc-0", isSame: true }]);
		expect([records.length, sent[0], sent.at(-1)]).toEqual([1, "documented", "ragflow-patch"]);
	});
});
