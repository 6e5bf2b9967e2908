import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { impatient } from "../../support/clock.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, profilesIn, serve } from "../../support/service.ts";
import { parseLines } from "../../support/values.ts";

/** The name of the dataset that the sandbox begins with. */
const OWN = "sandbox";

async function named(...names: readonly string[]) {
	const service = await serve();
	const env = envOf(service);
	const ids: string[] = [];
	// By hand: the program creates no second one of a name.
	for (const name of names) ids.push(await service.create(name));
	return { service, env, ids };
}

it.each([
	[[], 6],
	[["--max-outage", "1h"], 0],
] as const)("a service that restarts while a name is looked up is waited for, %j: exit %d", async (flags, exit) => {
	const restart = { fault: "close", when: "before", on: { method: "GET", path: "/datasets$", to: 20 } } as const;
	const service = await serve(3, { faults: { faults: [restart] } });
	const [id = ""] = await service.ids();
	const path = await file("tags.csv", `document_id,author\n${id},Ana\n`);
	const argv = ["docs", "tag", path, "-d", "sandbox", ...flags];
	expect((await ragtag(argv, { env: envOf(service), clock: impatient })).exit).toBe(exit);
});

describe("a dataset is named by its exact name", () => {
	it("for rows of a manifest: they are sent with its id, which is recorded", async () => {
		const { service, env } = await named("Other");
		const [id = ""] = await service.ids();
		const home = await folder();
		const path = await file("tags.csv", `document_id,author\n${id},Ana\n`);
		const { stderr } = await ends(ragtag(["docs", "tag", path, "-d", OWN, "--json"], { env, home }), 0, { updated: 1 });
		expect(stderr).toContain(`Dataset ${OWN} is ${service.dataset}.\n`);
		expect((await service.documents())[0]?.metadata).toEqual({ author: "Ana" });
		// The undo needs no name: the record has the id.
		const before = service.requests.length;
		expect((await ragtag(["runs", "undo", "--yes"], { env, home })).exit).toBe(0);
		expect(service.requests.slice(before).filter((line) => / \/api\/v1\/datasets\?/.test(line))).toEqual([]);
	});

	it.each([
		["docs list", ["docs", "list"]],
		["values", ["values"]],
		["manifest init", ["manifest", "init"]],
		["docs tag by a filter", ["docs", "tag", "--missing", "x", "--set", "x=1", "--mode", "merge", "--dry-run"]],
		["docs rm --id", ["docs", "rm", "--id", "0".repeat(32), "--dry-run"]],
	])("for %s", async (_what, argv) => {
		const { service, env } = await named("Other");
		const { stderr } = await ragtag([...argv, "-d", OWN], { env });
		expect(stderr).toContain(`Dataset ${OWN} is ${service.dataset}.\n`);
		if (argv[0] === "values") expect(stderr).toContain(`3 documents of dataset ${OWN}\n`);
		expect(service.requests.some((line) => line.includes(`/datasets/${service.dataset}/documents`))).toBe(true);
	});

	it("from the profile too", async () => {
		const { service, env } = await named();
		const home = await folder();
		await profilesIn(home, `{p: {base_url: '${service.url}', dataset: '${OWN}'}}`);
		const { exit, stdout } = await ragtag(["docs", "list", "--profile", "p", "--json"], { env, home });
		expect([exit, parseLines(stdout).length]).toEqual([0, 3]);
	});
});

describe("what is no dataset ends with exit 2, before anything is written", () => {
	it.each<[string, string[], string, string]>([
		["unknown", ["Handbooks"], "Nothing such", "There are: "],
		["mistyped", ["Handbooks"], "handbook", "Did you mean Handbooks?"],
		["the name of two", ["Twins", "Twins"], "Twins", "Name one by its id: "],
	])("a name that is %s", async (_what, names, typed, hint) => {
		const { service, env } = await named(...names);
		const [id = ""] = await service.ids();
		const path = await file("tags.csv", `document_id,author\n${id},Ana\n`);
		await says(ragtag(["docs", "tag", path, "-d", typed], { env }), 2, "nothing was sent\n", hint);
		expect((await service.documents())[0]?.metadata).toEqual({});
	});

	it("an id with a blank, with what to type instead", async () => {
		const { service, env } = await named();
		const listing = ragtag(["docs", "list", "-d", `${service.dataset} `], { env });
		await says(listing, 2, "nothing was sent\n", `Did you mean ${service.dataset}?`);
	});
});
