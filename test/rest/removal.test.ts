import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RestError } from "../../src/rest/errors.ts";
import { removalOf } from "../../src/rest/removal.ts";
import type { Document } from "../../src/rest/types.ts";
import { oddIds } from "./odd-ids.ts";
import { answer, apiFor, rawServer, rejection } from "./raw-server.ts";

type Removal = ReturnType<typeof removalOf>;

describe("a removal names exactly one document, however it is addressed: anything less names all of them", () => {
	const documentOf = (datasetId: string, id: string): Document => ({
		id,
		datasetId,
		isDatasetNamed: true,
		name: "",
		size: undefined,
		createTime: undefined,
		metadata: undefined,
	});

	test.each(["path", "body"] as const)("by %s", (by) => {
		fc.assert(
			fc.property(oddIds, oddIds, (dataset, id) => {
				let removal: Removal;
				try {
					removal = removalOf(by, "/api/v1", [documentOf(dataset, id)]);
				} catch (error) {
					expect(error).toMatchObject({ kind: "rejected", code: "BAD_ID" });
					return;
				}
				const parts = removal.path.split("/").map(decodeURIComponent);
				expect(parts).toEqual(["", "api", "v1", "datasets", dataset, "documents", ...(by === "path" ? [id] : [])]);
				if (by === "path") expect(removal.body).toBeUndefined();
				else expect(JSON.parse(removal.body ?? "")).toEqual({ ids: [id] });
			}),
			{ numRuns: 20_000 },
		);
	});

	test.each(["", ".", "..", " ", "\n"])("%j is no id, by path or by body", (id) => {
		for (const by of ["path", "body"] as const) {
			if (by === "path" && id === " ") continue;
			expect(() => removalOf(by, "/api/v1", [documentOf("ds", id)])).toThrow(RestError);
		}
	});

	test("a document that no list has shown is not removed", async () => {
		const server = await rawServer((socket) => socket.write(answer('{"code":0}')));
		const api = apiFor(server.baseUrl);
		const error = await rejection(api.removeDocument(documentOf("ds", "d1")));
		expect(error).toMatchObject({ kind: "rejected", code: "NOT_LISTED" });
		expect(server.requests).toEqual([]);
		await api.close();
		await server.close();
	});
});
