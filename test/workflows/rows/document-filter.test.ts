import { expect, it } from "vitest";
import { MARK } from "../../../src/run/documents/searches.ts";
import { filteredDocuments } from "../../../src/workflows/rows/document-filter.ts";
import { KeyCounts } from "../../../src/workflows/values/value-counts.ts";
import { oddList } from "../../run/documents/odd-list.ts";
import { direct } from "../../run/fake-api.ts";
import { provenService } from "../../run/fake-service.ts";
import { failure } from "../../run/harness.ts";

/** The names of the documents of one name, where the service denies some questions. */
async function named(name: string, isDenied: (query: { readonly name?: string }) => boolean): Promise<string[]> {
	const refuse = (query: { readonly name?: string }): void => {
		if (isDenied(query)) throw failure("rejected", { code: "NOT_FOUND" });
	};
	const session = { service: provenService(oddList({ documents: 3, refuse })), request: direct };
	const checks = { onShort: () => undefined, keys: new KeyCounts(), named: [], doubts: MARK };
	const names: string[] = [];
	for await (const document of filteredDocuments(session, "set", { name }, checks)) names.push(document.name);
	return names;
}

it("a name that the service denies is that of no document, unless it denies the dataset as well", async () => {
	expect(await named("x", (query) => query.name !== undefined)).toEqual([]);
	await expect(named("x", () => true)).rejects.toMatchObject({ code: "NOT_FOUND" });
});
