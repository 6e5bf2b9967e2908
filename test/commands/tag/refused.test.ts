import { describe, expect, it } from "vitest";
import { listen } from "../../support/listen.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, KEY, serve } from "../../support/service.ts";
import { at, keys, parseLines, range, summaryOf } from "../../support/values.ts";

const id = "5f1c0123456789abcdef0123456789ab";

/** What is wrong, its bytes, where the problem is, and a word of it. */
const manifests: readonly (readonly [string, string | Uint8Array, string, string])[] = [
	["is empty", "", "", "no rows"],
	["has only a header", "document_id,title\n", "", "no rows"],
	["has a missing cell", `document_id,title\n${id}\n`, "2:33", "title"],
	["has a surplus cell", `document_id,title\n${id},a,b\n`, "2:", ""],
	["has an unclosed quote", `document_id,title\n${id},"open\nand on\n`, "2:34", ""],
	["has text behind a closing quote", `document_id,title\n${id},"a"b\n`, "2:", ""],
	["is not UTF-8", Buffer.concat([Buffer.from(`document_id,title\n${id},`), Buffer.of(0xff, 0x0a)]), "2:34", "UTF-8"],
	["has the same header twice", `document_id,title,title\n${id},a,b\n`, "1:", "title"],
	["has a misspelt header", `Document-ID,title\n${id},a\n`, "1:1", "did you mean"],
	["has an id that climbs", "document_id,title\n..,a\n", "2:1", "document_id"],
	["has an empty id", "document_id,title\n,a\n", "2:1", "document_id"],
	["says two things of one document", `document_id,title\n${id},a\n${id},b\n`, "3:1", "line 2"],
	["has a number that is none", `document_id,pages:number\n${id},twelve\n`, "2:34", "pages"],
	["has a date that does not exist", `document_id,publish_date\n${id},2024-02-30\n`, "2:34", "publish_date"],
	["has JSON that is cut off", `[{"document_id":"${id}","title":"a"},{"document`, "1:", ""],
	["has a NUL character", `document_id,title\n${id},a\0b\n`, "2:", ""],
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
	const { exit, stderr } = await ragtag(argv, { env: envOf(service) });
	expect(exit).toBe(3);
	expect(stderr.split("\n").filter((line) => line.startsWith(`${path}:`))).toHaveLength(20);
	expect(stderr).toContain(
		'10 more problems; --json lists all of them\n    30 times, lines 2 to 31, first: pages: "no" ',
	);
	const { stdout } = await ragtag([...argv, "--json"], { env: envOf(service) });
	expect(parseLines(stdout).filter((line) => at(line, "type") === "problem")).toHaveLength(30);
	expect(service.requests).toEqual([]);
});

it("a row without a dataset is a problem of the manifest, before the service is asked", async () => {
	const service = await serve(1);
	const path = await file("bad.csv", `document_id,title\n${id},a\n`);
	const { exit, stderr } = await ragtag(["docs", "tag", path], { env: envOf(service) });
	expect(exit).toBe(3);
	expect(stderr).toContain("no dataset is given: add -d DATASET");
	expect(service.requests).toEqual([]);
});

const usage: readonly (readonly [string, readonly string[], Record<string, string | undefined>, string])[] = [
	["no key", [], { RAGTAG_API_KEY: undefined }, "RAGTAG_API_KEY"],
	["no address", [], { RAGTAG_BASE_URL: undefined }, "RAGTAG_BASE_URL"],
	["an empty key", [], { RAGTAG_API_KEY: "" }, "ragtag sandbox"],
	["a key with a space", [], { RAGTAG_API_KEY: `${KEY} x` }, "characters"],
	["a key with a line end inside", [], { RAGTAG_API_KEY: `${KEY}\r\nX: y` }, "characters"],
	["an address that is none", ["--base-url", "rag.example.com"], {}, "http"],
	["an address with a password", ["--base-url", "http://u:p@127.0.0.1"], {}, "password"],
	["a misspelt flag", ["--datset", "x"], {}, "Did you mean --dataset?"],
	["a flag value outside its choices", ["--mode", "overwrite"], {}, "merge"],
	["a rate that is none", ["--rate", "fast"], {}, "unlimited"],
	["a failed-rows file in no folder", ["--failed", "/nonexistent/failed.csv"], {}, "--failed"],
	["a schema that is not there", ["--schema", "/nonexistent/schema.json"], {}, "schema"],
	["a certificate file that is not there", ["--ca-file", "/nonexistent/ca.pem"], {}, "ca"],
	["a profile that is not there", ["--profile", "nobody"], {}, "nobody"],
];

it.each(usage)("%s is exit 2 with a next step, and nothing is sent", async (_what, flags, changed, word) => {
	const service = await serve(1);
	const path = await file("tags.csv", `document_id,title\n${(await service.ids())[0]},a\n`);
	const given: Record<string, string | undefined> = { ...envOf(service), XDG_CONFIG_HOME: "/nonexistent", ...changed };
	const env = Object.fromEntries(
		Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
	);
	const argv = ["docs", "tag", path, "-d", service.dataset, "--debug", ...flags];
	const { exit, stdout, stderr } = await ragtag(argv, { env: { ...env, RAGTAG_API_KEY: env["RAGTAG_API_KEY"] ?? "" } });
	expect([exit, stdout]).toEqual([2, ""]);
	expect(stderr).toContain(word);
	expect(stderr.match(/^ragtag: /gm)).toHaveLength(1);
	expect(stderr).not.toContain("    at ");
	expect(service.requests).toEqual([]);
});

it("a manifest that is missing, or is a folder, is exit 2 and names the file", async () => {
	const service = await serve(1);
	for (const path of ["/nonexistent/tags.csv", "/"]) {
		const { exit, stderr } = await ragtag(["docs", "tag", path, "-d", service.dataset], { env: envOf(service) });
		expect(exit).toBe(2);
		expect(stderr).toContain(path);
	}
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
