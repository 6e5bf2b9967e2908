import { describe, expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { listen } from "../../support/listen.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { serve } from "../../support/service.ts";

describe("datasets create", () => {
	it.each<Flavour>(["documented", "ragflow-0.18", "ragflow-0.21", "ragflow-0.26", "ragflow-0.27", "ragflow-1.0"])(
		"makes no second dataset of a name on %s: from then on no command would take the name",
		async (flavour) => {
			const service = await serve(0, { flavour });
			const run = (...more: string[]) => ragtag(["datasets", "create", ...more], { env: envOf(service) });
			const { exit, stdout, stderr } = await run("made");
			expect([exit, stdout]).toEqual([1, ""]);
			expect(stderr).toContain(
				`a dataset named made is there already, with the id ${service.dataset}; nothing was created`,
			);
			expect(stderr).toContain(`Use it with -d ${service.dataset}; --if-missing prints that id and exits 0.`);
			expect(await run("made", "--if-missing")).toMatchObject({ exit: 0, stdout: `${service.dataset}\n` });
			expect((await run("made ", "--if-missing")).stdout).toBe(`${service.dataset}\n`);
			const created = await run("new", "--if-missing");
			expect(created.exit).toBe(0);
			expect(created.stdout).not.toContain(service.dataset);
			const { stdout: listed } = await ragtag(["datasets", "list", "--format", "jsonl"], { env: envOf(service) });
			expect(listed.trim().split("\n")).toHaveLength(2);
		},
	);

	it("with two datasets of the name names both, also with --if-missing: neither is the one", async () => {
		const { url } = await scripted([{ code: 0, data: [dataset("a"), dataset("b")] }], undefined);
		const { exit, stdout, stderr } = await ragtag(["datasets", "create", "x", "--if-missing"], { env: envOf({ url }) });
		expect([exit, stdout]).toEqual([1, ""]);
		expect(stderr).toContain("there are 2 datasets named x: a, b; nothing was created");
	});

	it("finds what another client created meanwhile, with --if-missing", async () => {
		const lists = [
			{ code: 0, data: [] },
			{ code: 0, data: [dataset("a")] },
		];
		const refusal = { code: 102, message: "Dataset name 'x' already exists" };
		const one = await scripted(lists, refusal);
		const create = ["datasets", "create", "x"];
		expect(await ragtag([...create, "--if-missing"], { env: envOf(one) })).toMatchObject({ exit: 0, stdout: "a\n" });
		const other = await scripted(lists, refusal);
		await says(ragtag(create, { env: envOf(other) }), 1, "ragtag datasets list shows the id of");
	});

	it("reports both names and the id where the service created it under another", async () => {
		const made = await scripted([{ code: 0, data: [] }], { code: 0, data: { ...dataset("a"), name: "x(1)" } });
		const { exit, stdout, stderr } = await ragtag(["datasets", "create", "x"], { env: envOf(made) });
		expect([exit, stdout]).toEqual([1, ""]);
		expect(stderr).toContain(`named "x(1)", not "x"`);
		expect(stderr).toContain("its id is a");
	});

	it.each(["documented", "ragflow-0.26"] as const)("blanks at the ends make no other name at %s", async (flavour) => {
		const service = await serve(0, { flavour });
		expect((await ragtag(["datasets", "create", " new one "], { env: envOf(service) })).exit).toBe(0);
	});

	it("with an unknown path blames the address, not the ids", async () => {
		const { url } = await listen((request, response) => {
			request.resume();
			response.writeHead(404, { "content-type": "application/json" }).end('{"code":404,"message":"Not Found: /x"}');
		});
		await says(ragtag(["datasets", "create", "x"], { env: envOf({ url }) }), 6, "it must end where /api/v1 begins");
	});
});

it.each<Flavour>(["documented", "ragflow-0.21", "ragflow-0.26"])(
	"a dataset's id that is wrong is blamed on itself by %s",
	async (flavour) => {
		const service = await serve(1, { flavour });
		await says(ragtag(["docs", "list", "-d", "0".repeat(32)], { env: envOf(service) }), 1, "ragtag datasets list");
	},
);

function dataset(id: string) {
	return { id, name: "x", document_count: 0 };
}

/** A service that lists the datasets as the first of these says, after a creation as the second, and answers a creation so. */
async function scripted(lists: readonly object[], creation: object | undefined): Promise<{ url: string }> {
	let created = 0;
	return listen((request, response) => {
		request.resume();
		if (request.method === "POST") created = 1;
		const { searchParams } = new URL(request.url ?? "/", "http://localhost");
		const isLater = Number(searchParams.get("page") ?? "1") > 1;
		const answer = request.method === "POST" ? creation : isLater ? { code: 0, data: [] } : lists[created];
		response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
	});
}
