import { describe, expect, it } from "vitest";
import type { Flavour } from "../../src/sandbox/flavours/index.ts";
import { listen } from "../support/listen.ts";
import { envOf, ragtag } from "../support/ragtag.ts";
import { serve } from "../support/service.ts";

describe("datasets create", () => {
	it("with a name that is taken reports both names and the id of the dataset that the service created", async () => {
		const service = await serve(0, { flavour: "ragflow-0.26" });
		const { exit, stdout, stderr } = await ragtag(["datasets", "create", "made"], { env: envOf(service) });
		expect([exit, stdout]).toEqual([1, ""]);
		const id = /its id is (\S+)/.exec(stderr)?.[1] ?? "";
		expect(stderr).toContain(`named "made(1)", not "made"`);
		expect(stderr).toContain(`-d ${id}`);
		const { stdout: listed } = await ragtag(["datasets", "list", "--format", "jsonl"], { env: envOf(service) });
		expect(listed).toContain(`"dataset_id":"${id}","name":"made(1)"`);
	});

	it.each<Flavour>(["ragflow-0.18", "ragflow-0.21"])(
		"with a name that is taken, which %s refuses, reports how to find its id",
		async (flavour) => {
			const service = await serve(0, { flavour });
			const { exit, stderr } = await ragtag(["datasets", "create", "made"], { env: envOf(service) });
			expect(exit).toBe(1);
			expect(stderr).toContain(
				'Choose another name, or use the existing dataset: ragtag datasets list shows the id of "made".',
			);
		},
	);

	it.each(["documented", "ragflow-0.26"] as const)(
		"blanks at the ends, which %s removes, do not make another name",
		async (flavour) => {
			const service = await serve(0, { flavour });
			expect((await ragtag(["datasets", "create", " new one "], { env: envOf(service) })).exit).toBe(0);
		},
	);

	it("with an unknown path blames the address, not the ids", async () => {
		const { url } = await listen((request, response) => {
			request.resume();
			response.writeHead(404, { "content-type": "application/json" }).end('{"code":404,"message":"Not Found: /x"}');
		});
		const { exit, stderr } = await ragtag(["datasets", "create", "x"], { env: envOf({ url }) });
		expect([exit, stderr]).toEqual([6, expect.stringContaining("it must end where /api/v1 begins")]);
	});
});

it.each<Flavour>(["documented", "ragflow-0.21", "ragflow-0.26"])(
	"a dataset's id that is wrong is blamed on itself by %s",
	async (flavour) => {
		const service = await serve(1, { flavour });
		const { exit, stderr } = await ragtag(["docs", "list", "-d", "0".repeat(32)], { env: envOf(service) });
		expect(exit).toBe(1);
		expect(stderr).toContain("ragtag datasets list");
	},
);
