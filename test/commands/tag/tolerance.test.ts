import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, serve } from "../../support/service.ts";
import { at, range, summaryOf } from "../../support/values.ts";

it("--skip-invalid sends the valid rows, counts the others, and exits 1", async () => {
	const service = await serve(3);
	const [first = "", second = "", third = ""] = await service.ids();
	const path = await file("tags.csv", `document_id,pages:number\n${first},1\n${second},two\n${third},3\n`);
	const argv = ["docs", "tag", path, "-d", service.dataset, "--skip-invalid", "--json"];
	const { stdout } = await says(ragtag(argv, { env: envOf(service) }), 1, `${path}:3:34: `);
	expect(summaryOf(stdout)).toMatchObject({ rows: 3, updated: 2, invalid: 1, pending: 0, exit_code: 1 });
	expect((await service.documents()).map(({ metadata }) => at(metadata, "pages"))).toEqual([1, undefined, 3]);
});

it("--skip-invalid trusts no row below a header that is wrong", async () => {
	const service = await serve(1);
	const path = await file("tags.csv", `document_id,a,a\n${(await service.ids())[0]},1,2\n`);
	const argv = ["docs", "tag", path, "-d", service.dataset, "--skip-invalid", "--json"];
	const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
	expect(exit).toBe(3);
	summaryOf(stdout);
	expect(service.requests).toEqual([]);
});

it.each(["document_id,title\n", "[]"])("--allow-empty makes an empty manifest (%j) a success", async (text) => {
	const service = await serve(1);
	const argv = ["docs", "tag", await file("tags", text), "-d", service.dataset, "--json"];
	expect((await ragtag(argv, { env: envOf(service) })).exit).toBe(3);
	await ends(ragtag([...argv, "--allow-empty"], { env: envOf(service) }), 0, { rows: 0 });
	expect(service.requests).toEqual([]);
});

it("a run in which nothing failed leaves an older failed-rows file alone", async () => {
	const service = await serve(1);
	const failed = await file("failed.csv", "older\n");
	const path = await file("tags.csv", `document_id,a\n${(await service.ids())[0]},1\n`);
	const argv = ["docs", "tag", path, "-d", service.dataset, "--failed", failed];
	expect((await ragtag(argv, { env: envOf(service) })).exit).toBe(0);
	expect(await readFile(failed, "utf8")).toBe("older\n");
});

const absent = (count: number): string =>
	`document_id,a\n${range(count)
		.map((n) => `${n.toString(16).padStart(32, "f")},1`)
		.join("\n")}\n`;

it("a wrong dataset ends the run after ten rows, not after a million requests", async () => {
	const service = await serve(1);
	const path = await file("tags.csv", absent(300));
	const flags = ["-d", "f".repeat(32), "--rate", "5000", "--concurrency", "2", "--json"];
	const { exit, stdout, stderr } = await ragtag(["docs", "tag", path, ...flags], { env: envOf(service) });
	expect(exit).toBe(9);
	summaryOf(stdout);
	expect(stderr).toContain("--dataset");
	expect(service.requests.filter((line) => line.startsWith("PUT")).length).toBeLessThan(20);
});

it("a team member's key, which may not update, ends the run with exit 4 and the service's reason", async () => {
	const memberKey = "ragflow-Member5Tt8Uu1Yy";
	const service = await serve(50, { flavour: "ragflow-0.24", memberKey });
	const path = await file("tags.csv", `document_id,a\n${(await service.ids()).map((id) => `${id},1\n`).join("")}`);
	const argv = ["docs", "tag", path, "-d", service.dataset, "--concurrency", "1", "--json"];
	const { stderr } = await ends(ragtag(argv, { env: { ...envOf(service), RAGTAG_API_KEY: memberKey } }), 4, {
		rows: 50,
		updated: 0,
		failed: 1,
		pending: 49,
	});
	expect(stderr).toMatch(
		/the first row was refused for lack of permission: .* answered code 102 "You don't own the dataset/,
	);
	expect(stderr).toContain("ragtag doctor");
});
