import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { commandFlavours } from "../../support/whole.ts";
import { liar } from "../../support/liar.ts";
import { type Ended, envOf, ragtag, type World } from "../../support/ragtag.ts";
import { refuseAt, resumeOf, runOf, stopAt, toTag } from "../../support/recorded.ts";
import { file, folder, profilesIn, serve, writes } from "../../support/service.ts";
import { rowsFor } from "../../support/typed.ts";
import { at, parseLines, range, summaryOf } from "../../support/values.ts";

/** A home whose profile `prod` has that policy; the profile `free` has none. */
async function homeWith(policy: string, home?: string): Promise<string> {
	const place = home ?? (await folder());
	await profilesIn(place, `{free: {}, prod: {policy: ${policy}}}`);
	return place;
}

const runFolders = (home: string): Promise<string[]> =>
	readdir(join(home, ".local", "state", "ragtag", "runs")).catch(() => []);

/** Four documents, and a manifest that does something to each. */
async function world(policy: string, options: Parameters<typeof serve>[1] = {}) {
	const service = await serve(4, options);
	const ids = await service.ids();
	for (const id of ids) await service.put(id, { source_id: "s1", category: "news", author: "Ann" });
	const home = await homeWith(policy);
	const run = (argv: readonly string[], more: World = {}): Promise<Ended> => {
		// A plan names its dataset.
		const place = argv[1] === "apply" ? [] : ["-d", service.dataset, "--rate", "5000"];
		return ragtag(["--profile", "prod", ...argv, ...place], { env: envOf(service), home, ...more });
	};
	return {
		service,
		ids,
		home,
		run,
		rows: (lines: readonly object[]) => rowsFor(ids.slice(0, lines.length), (n) => lines[n]),
	};
}

const problemsOf = (stdout: string): unknown[] =>
	parseLines(stdout)
		.filter((line) => at(line, "type") === "problem")
		.map((line) => [at(line, "line"), at(line, "field"), at(line, "error_code")]);

const POLICY =
	"{protected: [source_id], allowed: {category: [news, law]}, required: [author], max_changes: 3, no_clearing: true}";
const BAD = [
	{ source_id: "s2", category: "news", author: "Ann" },
	{ source_id: "s1", category: ["law", "blog"], author: "Ann" },
	{ source_id: "s1", category: "law" },
	{},
];

const FOUND = [
	[1, "source_id", "POLICY_PROTECTED"],
	[2, "category", "POLICY_ALLOWED"],
	[3, "author", "POLICY_REQUIRED"],
	[4, "source_id", "POLICY_PROTECTED"],
	[4, "author", "POLICY_REQUIRED"],
	[4, null, "POLICY_CLEARING"],
	[4, null, "POLICY_MAX_CHANGES"],
];

describe("a run of docs tag that the policy of its profile forbids", () => {
	it.each(commandFlavours)("sends nothing, reports every breach, and records nothing, at %s", async (flavour) => {
		const { service, home, run, rows } = await world(POLICY, { flavour });
		const before = await service.documents();
		const path = await rows(BAD);
		const { stdout, stderr } = await ends(run(["docs", "tag", path, "--json"]), 9, {
			rows: 4,
			pending: 4,
			run: null,
			resume: null,
		});
		expect(problemsOf(stdout)).toEqual(FOUND);
		expect(stderr).toContain(`${path}:1:1: source_id: is protected, and would be changed`);
		expect(stderr).toContain("breaks the policy of profile prod in 7 ways; nothing was sent");
		expect(writes(service)).toEqual([]);
		expect(await service.documents()).toEqual(before);
		expect(await runFolders(home)).toEqual([]);
	});

	it("shows with --dry-run its changes and which are forbidden, and exits 9", async () => {
		const { service, run, rows } = await world(POLICY);
		const { stdout } = await says(
			run(["docs", "tag", await rows(BAD), "--dry-run", "--detailed-exitcode", "--json"]),
			9,
			"4 rows: 4 would change",
		);
		expect(problemsOf(stdout)).toEqual(FOUND);
		expect(parseLines(stdout).filter((line) => at(line, "type") === "change")).toHaveLength(4);
		expect(writes(service)).toEqual([]);
	});

	it.each([
		["no list shows its document, as it can't be checked", Number.POSITIVE_INFINITY, "NOT_FOUND"],
		["a list shows its document only after the check: protected keys would be removed", 1, "POLICY_UNSEEN"],
	])("is not sent if %s", async (_, hidden, code) => {
		let looks = 0;
		const none = { code: 0, data: { total: 0, docs: [] } };
		const service = await liar(2, ({ method, path, query }) => {
			if (method !== "GET" || !path.endsWith("/documents")) return undefined;
			if (query.get("id") === "doc-1") return looks++ < hidden ? none : undefined;
			// What no look shows, no page of the list shows.
			return hidden === 1 ? undefined : none;
		});
		service.held.set("doc-1", { source_id: "s1" });
		const path = await file("t.csv", "document_id,author\ndoc-1,Ann\n");
		const argv = ["docs", "tag", path, "-d", "set", "--profile", "prod", "--rate", "5000", "--json"];
		const home = await homeWith("{protected: [source_id], required: [author]}");
		const { stdout } = await ends(ragtag(argv, { env: envOf(service), home }), 1, { failed: 1, updated: 0 });
		expect(stdout).toContain(`"error_code":"${code}"`);
		expect(service.held.get("doc-1")).toEqual({ source_id: "s1" });
	});

	it("is checked by one list, not row by row, and sent if nothing in it is forbidden", async () => {
		const service = await serve(300);
		const home = await homeWith("{protected: [source_id], max_changes: 100%}");
		const path = await file("t.csv", `document_id,a\n${(await service.ids()).map((id) => `${id},x\n`).join("")}`);
		const argv = ["docs", "tag", path, "-d", service.dataset, "--profile", "prod", "--rate", "5000", "--json"];
		const { stderr } = await ends(ragtag(argv, { env: envOf(service), home }), 0, { updated: 300 });
		expect(stderr).toContain("The policy of profile prod is checked on all rows before the first is sent.");
		const firstWrite = service.requests.findIndex((line) => line.includes(" 200") && line.startsWith("PUT"));
		expect(firstWrite).toBeGreaterThan(3);
		expect(firstWrite).toBeLessThan(20);
	});
});

it("a run that is stopped while its policy is checked has sent nothing", async () => {
	const { service, home, run, rows } = await world("{protected: [source_id]}");
	const controller = new AbortController();
	const onError = (text: string): void => {
		if (text.includes("is checked on all rows")) controller.abort({ exit: 130, text: "stopped by SIGINT" });
	};
	const stopped = await run(["docs", "tag", await rows(BAD), "--json"], { signal: controller.signal, onError });
	await ends(stopped, 130, { pending: 4, run: null });
	expect([writes(service), await runFolders(home)]).toEqual([[], []]);
});

it("a run that is stopped after the last read of its policy check has not begun", async () => {
	const { home, run, rows } = await world("{protected: [source_id]}");
	const asked = (text: string): number => text.split("\n").filter((line) => line.includes("GET /")).length;
	const forbidden = ["docs", "tag", await rows(BAD), "--debug"];
	// The first run learns what the service is, which the others remember.
	await run(forbidden);
	const looks = asked((await run(forbidden)).stderr);
	const controller = new AbortController();
	const onError = (text: string): void => {
		if (asked(text) === looks) controller.abort({ exit: 130, text: "stopped by SIGINT" });
	};
	const allowed = range(4).map((n) => ({ source_id: "s1", author: `Ann ${n}` }));
	const argv = ["docs", "tag", await rows(allowed), "--debug", "--json"];
	await ends(run(argv, { signal: controller.signal, onError }), 130, { pending: 4, run: null });
	expect(await runFolders(home)).toEqual([]);
});

describe("what a policy allows", () => {
	it("a merge that keeps protected keys, and values that are already present", async () => {
		const { service, ids, run, rows } = await world(POLICY);
		for (const id of ids) await service.put(id, { source_id: "s1", category: "old", author: "Ann" });
		const path = await rows([{ note: 1 }, { category: "old", note: 2 }, { source_id: "s1", note: 3 }]);
		const { exit, stdout } = await run(["docs", "tag", path, "--mode", "merge", "--json"]);
		expect([exit, problemsOf(stdout)]).toEqual([0, []]);
		expect(summaryOf(stdout)).toMatchObject({ updated: 3 });
	});

	it("rows that change nothing: they do not count, and with --only-changed they are not checked", async () => {
		const { service, ids, run, rows } = await world("{max_changes: 25%, required: [author]}");
		await service.put(ids[0] ?? "", { category: "news" });
		const same = { source_id: "s1", category: "news", author: "Ann" };
		const path = await rows([{ category: "news" }, same, same, { ...same, author: "Bob" }]);
		const { exit, stdout } = await run(["docs", "tag", path, "--only-changed", "--json"]);
		expect([exit, problemsOf(stdout)]).toEqual([0, []]);
		expect(summaryOf(stdout)).toMatchObject({ updated: 1, unchanged: 3 });
		// Without it the document is written, and has to have what is required.
		const whole = await run(["docs", "tag", path, "--json"]);
		expect([whole.exit, problemsOf(whole.stdout)]).toEqual([9, [[1, "author", "POLICY_REQUIRED"]]]);
	});

	it("a missing document: that is a failed row, as without a policy", async () => {
		const { service, run } = await world(POLICY);
		const path = await file("t.csv", "document_id,author\nnobody,x\n");
		const { exit, stdout } = await run(["docs", "tag", path, "--json"]);
		expect([exit, problemsOf(stdout)]).toEqual([1, []]);
		expect(summaryOf(stdout)).toMatchObject({ failed: 1 });
		expect(writes(service).filter((line) => line.endsWith(" 200"))).toEqual([]);
	});

	it("everything, with another profile or with none", async () => {
		const { service, home, rows } = await world(POLICY);
		const path = await rows(BAD);
		for (const profile of [["--profile", "free"], []]) {
			const argv = ["docs", "tag", path, "-d", service.dataset, "--dry-run", "--json", ...profile];
			const { exit, stdout } = await ragtag(argv, { env: envOf(service), home });
			expect([exit, problemsOf(stdout)]).toEqual([0, []]);
		}
		const chosen = await ragtag(["docs", "tag", path, "-d", service.dataset, "--json"], {
			env: { ...envOf(service), RAGTAG_PROFILE: "prod" },
			home,
		});
		expect(chosen.exit).toBe(9);
	});
});

describe("where lists show no metadata", () => {
	const hiding = () =>
		liar(2, ({ method, path }) =>
			method === "GET" && path.endsWith("/documents")
				? { code: 0, data: { total: 2, docs: range(2).map((n) => ({ id: `doc-${n}`, dataset_id: "set", name: "x" })) } }
				: undefined,
		);
	const sent = async (policy: string): Promise<Ended & { readonly puts: readonly string[] }> => {
		const server = await hiding();
		const path = await file("t.csv", "document_id,a\ndoc-0,x\n");
		const argv = ["--profile", "prod", "docs", "tag", path, "-d", "set", "--flavour", "documented"];
		const ended = await ragtag(argv, { env: envOf(server), home: await homeWith(policy) });
		return { ...ended, puts: server.requests.filter((line) => line.startsWith("PUT")) };
	};

	it("protected keys and the number of changes are unknown: nothing is sent", async () => {
		for (const policy of ["{protected: [source_id]}", "{no_clearing: true}", "{max_changes: 5}"]) {
			const { exit, stderr, puts } = await sent(policy);
			expect([exit, puts]).toEqual([2, []]);
			expect(stderr).toContain("so the policy of profile prod has nothing to compare with; nothing was sent");
		}
	});

	it("values and required keys are still checked", async () => {
		expect(await sent("{allowed: {a: [y]}}")).toMatchObject({ exit: 9, puts: [] });
		expect((await sent("{allowed: {a: [x]}, required: [a]}")).puts).toHaveLength(1);
	});
});

describe("docs upload with a policy", () => {
	const files = async (): Promise<string> => {
		const path = await file("files.csv", "file,category,author\na.txt,blog,Ann\nb.txt,law,\nc.txt,news,Cid\n");
		for (const name of ["a.txt", "b.txt", "c.txt"]) await writeFile(join(dirname(path), name), name);
		return path;
	};

	it("checks the metadata of each row, and sends no file if something is forbidden", async () => {
		const { service, home, run } = await world(POLICY.replace("max_changes: 3", "max_changes: 2"));
		const { stdout } = await ends(run(["docs", "upload", await files(), "--json"]), 9, {
			rows: 3,
			pending: 3,
			run: null,
		});
		expect(problemsOf(stdout)).toEqual([
			[2, "category", "POLICY_ALLOWED"],
			[3, "author", "POLICY_REQUIRED"],
			[4, null, "POLICY_MAX_CHANGES"],
		]);
		expect(service.requests).toEqual([]);
		expect(await runFolders(home)).toEqual([]);
	});

	it("prints no header without a list of ids, and also takes files as arguments", async () => {
		const { service, run } = await world("{required: [author]}");
		const path = await files();
		const argv = ["docs", "upload", join(dirname(path), "a.txt")];
		const refused = await run(argv);
		expect([refused.exit, refused.stdout, service.requests]).toEqual([9, "", []]);
		expect((await run([...argv, "--set", "author=Ann"])).exit).toBe(0);
	});

	it("may write protected keys to a document that it creates, not to an existing one", async () => {
		const { service, run } = await world("{protected: [author]}");
		const path = await files();
		expect((await run(["docs", "upload", path])).exit).toBe(0);
		const again = ["docs", "upload", path, "--on-existing", "update-metadata", "--json"];
		expect((await run(again)).exit).toBe(0);
		await writeFile(path, "file,category,author\na.txt,blog,Bob\nb.txt,law,\nc.txt,news,Cid\n");
		const sent = writes(service).length;
		for (const argv of [again, [...again, "--dry-run"]]) {
			const { exit, stdout } = await run(argv);
			expect([exit, problemsOf(stdout)]).toEqual([9, [[2, "author", "POLICY_PROTECTED"]]]);
		}
		expect(writes(service)).toHaveLength(sent);
	});
});

describe("docs rm with a policy", () => {
	it.each(["--id", "manifest"])("removes none where it would remove too many, by %s, and does not ask", async (how) => {
		const { service, ids, run } = await world("{max_changes: 50%, protected: [source_id]}");
		const named = async (wanted: readonly string[]): Promise<string[]> =>
			how === "--id" ? ["--id", ...wanted] : [await file("rm.csv", `document_id\n${wanted.join("\n")}\n`)];
		const { exit, stdout } = await run(["docs", "rm", ...(await named(ids)), "--json"], { terminal: true });
		expect([exit, problemsOf(stdout)]).toEqual([9, [[how === "--id" ? 3 : 4, null, "POLICY_MAX_CHANGES"]]]);
		expect(service.requests).toEqual([]);
		expect(await service.ids()).toEqual(ids);
	});

	it("removes as many as the policy allows", async () => {
		const { service, ids, run } = await world("{max_changes: 1}");
		const { exit } = await run(["docs", "rm", "--id", ids[0] ?? "", "--yes"]);
		expect([exit, (await service.ids()).length]).toEqual([0, 3]);
	});

	it("shows with --dry-run the removals and that they are too many", async () => {
		const { service, ids, run } = await world("{max_changes: 1}");
		const { exit, stdout } = await run(["docs", "rm", "--id", ...ids, "--dry-run", "--json"]);
		expect([exit, problemsOf(stdout)]).toEqual([9, [[2, null, "POLICY_MAX_CHANGES"]]]);
		expect(parseLines(stdout).filter((line) => at(line, "type") === "change")).toHaveLength(4);
		expect(writes(service)).toEqual([]);
	});
});

describe("docs plan and docs apply with a policy", () => {
	const GOOD = [{ source_id: "s1", category: "law", author: "Ann" }];

	it("write no plan of forbidden changes, and report them", async () => {
		const { service, run, rows } = await world(POLICY);
		const out = join(await folder(), "plan.jsonl");
		const { exit, stdout, stderr } = await run(["docs", "plan", await rows(BAD), "--out", out, "--json"]);
		expect([exit, problemsOf(stdout)]).toEqual([9, FOUND]);
		expect(stderr).toContain("nothing was sent; no plan was written");
		await expect(readFile(out)).rejects.toThrow();
		expect(writes(service)).toEqual([]);
		expect((await run(["docs", "plan", await rows(GOOD), "--out", out])).exit).toBe(0);
		expect((await run(["docs", "apply", out])).exit).toBe(0);
	});

	it("count changes as a share of the planned rows, not of the changed ones", async () => {
		const { run, rows } = await world("{max_changes: 25%}");
		const same = { source_id: "s1", category: "news", author: "Ann" };
		const out = join(await folder(), "plan.jsonl");
		const path = await rows([same, { ...same, author: "Bob" }, same, same]);
		expect((await run(["docs", "plan", path, "--out", out])).exit).toBe(0);
		await ends(run(["docs", "apply", out, "--json"]), 0, { rows: 1, updated: 1 });
	});

	it("send nothing of a plan that was made under no policy", async () => {
		const { service, home, run, rows } = await world(POLICY);
		const out = join(await folder(), "plan.jsonl");
		const path = await rows(BAD);
		expect((await run(["docs", "plan", path, "--out", out, "--profile", "free"])).exit).toBe(0);
		for (const more of [[], ["--dry-run"]]) {
			const { exit, stdout, stderr } = await run(["docs", "apply", out, "--json", ...more]);
			expect([exit, problemsOf(stdout)]).toEqual([9, FOUND]);
			expect(stderr).toContain(`${path}:1:1: source_id: is protected`);
		}
		expect(writes(service)).toEqual([]);
		expect(await runFolders(home)).toEqual([]);
	});
});

it("the policy also applies to documents that a filter finds", async () => {
	const { service, home, run } = await world(POLICY);
	const argv = ["docs", "tag", "--where", "category=news", "--mode", "merge", "--json", "--set"];
	const { exit, stdout } = await run([...argv, "source_id=s2"]);
	expect(exit).toBe(9);
	expect(problemsOf(stdout).map((problem) => at(problem, 2))).toEqual([
		...range(4).map(() => "POLICY_PROTECTED"),
		"POLICY_MAX_CHANGES",
	]);
	expect([writes(service), await runFolders(home)]).toEqual([[], []]);
});

it("a run that broke a policy can be undone, although the undo breaks it as well", async () => {
	const { world: made, argv } = await toTag(2);
	await homeWith("{protected: [n], required: [n], max_changes: 0, no_clearing: true}", made.home);
	expect((await made.run(argv)).exit).toBe(0);
	for (const more of [["--dry-run"], ["--yes"]]) {
		const { exit, stdout } = await made.run(["--profile", "prod", "runs", "undo", "--json", ...more]);
		expect([exit, problemsOf(stdout)]).toEqual([0, []]);
	}
	expect((await made.service.documents()).map(({ metadata }) => at(metadata, "n"))).toEqual([undefined, undefined]);
});

describe("a resumed run", () => {
	it("is checked by its remaining rows, and reported with the counts of the whole run", async () => {
		const { world: made, argv } = await toTag(6, stopAt(3));
		await homeWith("{max_changes: 6}", made.home);
		const first = await ends(made.run(["--profile", "prod", ...argv]), 4, { updated: 2, pending: 4 });
		const run = runOf(first.stdout);
		const journal = await readFile(made.path(run, "journal.log"), "utf8");

		await homeWith("{max_changes: 3}", made.home);
		for (const again of [
			[...resumeOf(first.stdout), "--json"],
			["--profile", "prod", ...argv, "--resume"],
		]) {
			const refused = await ends(made.run(again), 9, { run, rows: 6, updated: 2, pending: 4 });
			expect(problemsOf(refused.stdout)).toEqual([[7, null, "POLICY_MAX_CHANGES"]]);
			expect(resumeOf(refused.stdout)).toEqual(resumeOf(first.stdout));
		}
		expect(await readFile(made.path(run, "journal.log"), "utf8")).toBe(journal);
		expect(made.writes()).toBe(2);

		await homeWith("{max_changes: 4}", made.home);
		await ends(made.run([...resumeOf(first.stdout), "--json"]), 0, { run, updated: 6 });
		expect((await made.service.documents()).map(({ metadata }) => at(metadata, "n"))).toEqual(range(6));
	});

	it("is checked by its failed rows only if they are retried", async () => {
		const { world: made, argv } = await toTag(2, refuseAt(2));
		await homeWith("{}", made.home);
		await ends(made.run(["--profile", "prod", ...argv]), 1, { updated: 1, failed: 1 });
		await homeWith("{required: [author]}", made.home);
		const resumed = await made.run(["runs", "resume", "--json"]);
		expect(problemsOf(resumed.stdout)).toEqual([]);
		const retried = await made.run(["runs", "retry", "--json"]);
		expect([retried.exit, problemsOf(retried.stdout)]).toEqual([9, [[3, "author", "POLICY_REQUIRED"]]]);
		expect(summaryOf(retried.stdout)).toMatchObject({ updated: 1, failed: 1, exit_code: 9 });
		expect(made.writes()).toBe(1);
	});
});
