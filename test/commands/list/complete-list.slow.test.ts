import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commandFlavours } from "../../support/whole.ts";
import { listen } from "../../support/listen.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { folder, idOf, serve } from "../../support/service.ts";
import { at, parseLines, range } from "../../support/values.ts";

it.each(commandFlavours)("25,000 documents of one time are listed by %s, each once", async (flavour) => {
	const service = await serve(25_000, { flavour });
	const argv = ["docs", "list", "-d", service.dataset, "--json", "--rate", "5000"];
	const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
	expect(exit).toBe(0);
	const ids = parseLines(stdout).map((line) => at(line, "document_id"));
	expect(ids).toHaveLength(25_000);
	expect(new Set(ids).size).toBe(25_000);
	if (flavour === "documented") expect(service.requests.length).toBeLessThanOrEqual(251);
});

it.each(["error", "cap"] as const)("a service of small pages (%s) hides no document", async (onLargePage) => {
	const service = await serve(95, { pageSizeLimit: 10, onLargePage });
	const argv = ["docs", "list", "-d", service.dataset, "--json", "--rate", "5000"];
	const { exit, stdout } = await ragtag(argv, { env: envOf(service) });
	expect(exit).toBe(0);
	expect(parseLines(stdout).map((line) => at(line, "document_id"))).toEqual(range(95, 1).map(idOf));
});

/** An id, so that the service is not asked for a dataset of that name. */
const DATASET = "d".repeat(32);

/** A service whose dataset has more documents than its pages show, by its own account. */
function boastful(shown: number, total: number): Promise<{ url: string }> {
	return listen((request, response) => {
		const query = new URL(request.url ?? "", "http://service").searchParams;
		const size = Number(query.get("page_size"));
		const start = (Number(query.get("page")) - 1) * size;
		const docs = range(shown).map((n) => ({ id: `id${n}`, name: `${n}.txt`, meta_fields: { n } }));
		response.end(JSON.stringify({ code: 0, data: { total, docs: docs.slice(start, start + size) } }));
	});
}

it("an incomplete list is printed and is no success, so that it is not taken for a complete one", async () => {
	const env = envOf(await boastful(120, 1_240));
	const { exit, stdout, stderr } = await ragtag(["docs", "list", "-d", DATASET, "--json"], { env });
	expect(parseLines(stdout)).toHaveLength(120);
	expect(exit).toBe(1);
	expect(stderr.split("\n")[0]).toBe(
		`ragtag: the service says that dataset ${DATASET} has 1,240 documents, and its pages showed 120, in 5 passes; ` +
			"the list above is not complete",
	);
});

it("a manifest of an incomplete list is kept, and reported as incomplete", async () => {
	const env = envOf(await boastful(3, 4));
	const out = join(await folder(), "tags.csv");
	const { exit, stderr } = await ragtag(["manifest", "init", "-d", DATASET, "--out", out], { env });
	expect([exit, existsSync(out)]).toEqual([1, true]);
	expect(readFileSync(out, "utf8").trim().split("\n")).toHaveLength(4);
	expect(stderr).toContain(`${out} is not complete`);
	const printed = await ragtag(["manifest", "init", "-d", DATASET], { env });
	expect([printed.exit, printed.stdout]).toEqual([1, readFileSync(out, "utf8")]);
});
