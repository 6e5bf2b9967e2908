import { describe, expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { listen } from "../../support/listen.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, KEY, serve } from "../../support/service.ts";
import { at, keys, parseLines, range, summaryOf } from "../../support/values.ts";

const id = "5f1c0123456789abcdef0123456789ab";

/** What is wrong, its bytes, where the problem is, and a word of it. */
const manifests: readonly (readonly [string, string | Uint8Array, string, string])[] = [
	["is empty", "", "", "no rows"],
	["is not UTF-8", Buffer.concat([Buffer.from(`document_id,title\n${id},`), Buffer.of(0xff, 0x0a)]), "2:34", "UTF-8"],
	["has an id that climbs", "document_id,title\n..,a\n", "2:1", "document_id"],
	["says two things of one document", `document_id,title\n${id},a\n${id},b\n`, "3:1", "line 2"],
	["has JSON that is cut off", `[{"document_id":"${id}","title":"a"},{"document`, "1:", ""],
];

describe("an invalid manifest sends nothing, and its problem is reported with its place", () => {
	it.each(manifests)("one that %s", async (_what, content, place, word) => {
		const service = await serve(1);
		const path = await file("bad.csv", content);
		const flags = ["docs", "tag", path, "-d", service.dataset];
		const { exit, stdout, stderr } = await ragtag([...flags, "--debug"], { env: envOf(service) });
		expect([exit, stdout]).toEqual([3, ""]);
		const problems = stderr.split("\n").filter((line) => line.startsWith(`${path}:`));
		if (place === "") expect(stderr).toContain(word);
		else expect(problems[0]).toContain(word);
		expect((problems[0] ?? "").slice(path.length + 1).startsWith(place)).toBe(true);
		expect(stderr).toContain("nothing was sent");
		expect(stderr).toMatch(/ragtag manifest check|--allow-empty/);

		const json = await ragtag([...flags, "--json"], { env: envOf(service) });
		expect(json.exit).toBe(3);
		const found = parseLines(json.stdout).filter((line) => at(line, "type") === "problem");
		expect(found).toHaveLength(problems.length);
		for (const problem of found) expect(keys(problem)).toEqual(expect.arrayContaining(["line", "column", "field"]));
		expect(summaryOf(json.stdout)).toMatchObject({ exit_code: 3, attempts: 0, updated: 0 });
		expect(service.requests).toEqual([]);
	});
});

it("all problems are found at once: twenty for a person and a count, every one with --json", async () => {
	const service = await serve(1);
	const path = await file(
		"bad.csv",
		`document_id,pages:number\n${Array.from({ length: 30 }, (_, n) => `x${n},no`).join("\n")}\n`,
	);
	const argv = ["docs", "tag", path, "-d", service.dataset];
	const { stderr } = await says(
		ragtag(argv, { env: envOf(service) }),
		3,
		'10 more problems; --json lists all of them\n    30 times, lines 2 to 31, first: pages: "no" ',
	);
	expect(stderr.split("\n").filter((line) => line.startsWith(`${path}:`))).toHaveLength(20);
	const { stdout } = await ragtag([...argv, "--json"], { env: envOf(service) });
	expect(parseLines(stdout).filter((line) => at(line, "type") === "problem")).toHaveLength(30);
	expect(service.requests).toEqual([]);
});

it.each([
	[403, "ask who runs the proxy to let the request through", "Check the address"],
	[413, "nginx: client_max_body_size", "Raise that limit"],
])("the %i page of a proxy sends no one to look at ids or rows", async (status, why, next) => {
	const { url } = await listen((_request, response) => void response.writeHead(status).end("<h1>no</h1>"));
	const env = { RAGTAG_BASE_URL: url, RAGTAG_API_KEY: KEY };
	const listed = await ragtag(["datasets", "list"], { env });
	expect(listed.exit).toBe(1);
	for (const text of [why, next]) expect(listed.stderr).toContain(text);
	expect(listed.stderr).not.toMatch(/\bids?\b/);
	const rows = range(12).map((n) => `${String(n).padStart(32, "0")},a\n`);
	const path = await file("tags.csv", `document_id,title\n${rows.join("")}`);
	const tagged = await ragtag(["docs", "tag", path, "-d", "0".repeat(32)], { env });
	expect(tagged.stderr).toContain("a proxy");
	expect(tagged.stderr).not.toMatch(/Correct|dataset's id/);
});
