import { describe, expect, it } from "vitest";
import { documented, ragflowPatch } from "../../../src/rest/flavours.ts";
import type { Api, Dialect } from "../../../src/rest/types.ts";
import { acrossFlavours } from "../../../src/run/operations/operation.ts";
import { direct, fakeApi } from "../fake-api.ts";
import { serviceOf } from "../fake-service.ts";
import { failure, work } from "../harness.ts";

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
	])("begins its try again in the flavour that is found out then: %s", async (_, answer) => {
		const { api, asked } = server(true);
		const knowledge = { flavour: documented, form: "multipart", proven: "document_id", how: "it was seen" } as const;
		const memory = { load: async () => ({ ...knowledge, foundAt: 0 }), save: async () => undefined };
		const service = serviceOf(api, { memory, now: () => 1 });
		const tries: string[] = [];
		const operation = acrossFlavours(service, async ({ documentId }) => {
			const { flavour } = service.api.dialect;
			tries.push(flavour.name);
			if (flavour === documented) throw failure("contradiction", answer);
			return { status: "updated", documentId };
		});
		expect(await operation(work(0), direct, {})).toEqual({ status: "updated", documentId: "doc-0" });
		expect(tries).toEqual(["documented", "ragflow-patch"]);
		expect(asked).toEqual(["PATCH", "PUT"]);
	});

	it("fails the row where the flavour was given, as before: it does not end the run", async () => {
		const { api } = server(false);
		const service = serviceOf(api, { flavour: { value: ragflowPatch, origin: "--flavour" } });
		const operation = acrossFlavours(service, () =>
			Promise.reject(failure("contradiction", { code: "CODE_100", status: 200 })),
		);
		await expect(operation(work(0), direct, {})).rejects.toMatchObject({ kind: "contradiction", code: "CODE_100" });
	});
});
