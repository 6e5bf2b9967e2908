import { expect, it } from "vitest";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, serve } from "../../support/service.ts";

/** The long value is more than one chunk of the private file that a list as CSV is kept in. */
const ODD = {
	long: "é\u2028".repeat(30_000),
	"k\u2028": "a\u2028b\u2029c",
	plain: "x\u0085y\r\nz",
	list: ["p\u2028", "q"],
};

it.each([
	["manifest", "init"],
	["docs", "list", "--format", "csv"],
])("%s %s does not break lines at U+2028 and U+2029, and its output reads back exactly", async (...argv) => {
	const service = await serve(2);
	const [id = ""] = await service.ids();
	await service.put(id, ODD);
	const { exit, stdout } = await ragtag([...argv, "-d", service.dataset], { env: envOf(service) });
	expect(exit).toBe(0);
	const manifest = await file("tags.csv", stdout);
	const dry = await ragtag(["docs", "tag", manifest, "--dry-run", "--detailed-exitcode"], { env: envOf(service) });
	expect([dry.exit, dry.stderr]).toEqual([0, expect.stringContaining("2 unchanged")]);
});
