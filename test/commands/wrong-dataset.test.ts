import { describe, expect, it } from "vitest";
import { envOf, ragtag } from "../support/ragtag.ts";
import { listen } from "../support/listen.ts";

describe("the id of a missing dataset", () => {
	it("is what a list's hint names, whatever the letter case of RAGFlow's words", async () => {
		for (const words of ["You don't own the dataset nosuch.", "you don't own the dataset nosuch"]) {
			const service = await listen((_, response) => response.end(JSON.stringify({ code: 102, message: words })));
			const { exit, stderr } = await ragtag(["docs", "list", "-d", "nosuch"], { env: envOf(service) });
			expect(exit, words).toBe(1);
			expect(stderr).toContain("Check the dataset's id: ragtag datasets list shows those that this key may use.");
		}
	});
});
