import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { systemClock } from "../../../src/run/clock.ts";
import type { Clock } from "../../../src/run/types.ts";
import type { PlannedFault } from "../../../src/sandbox/faults/plan.ts";
import { liar } from "../../support/liar.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { recorded, runOf, stopAt } from "../../support/recorded.ts";
import { proxy } from "../../support/proxy.ts";
import { file, folder, type Service } from "../../support/service.ts";
import { at, linesOf, parseLines, range, summaryOf } from "../../support/values.ts";

const fast = ["--rate", "unlimited", "--json"];

/** Waits take one turn of the event loop: what a service shows late it shows by the number of its answers. */
const hurried: Clock = { ...systemClock, sleep: () => new Promise((resolve) => void setImmediate(resolve)) };

/** A manifest of these values, one line for each document, and the arguments that tag it. */
async function tagging(
	{ service }: { readonly service: Service },
	value: (n: number) => unknown,
	...more: string[]
): Promise<string[]> {
	const rows = (await service.ids()).map((id, n) => JSON.stringify({ document_id: id, meta_fields: value(n) }));
	return ["docs", "tag", await file("tags.jsonl", rows.join("\n")), "-d", service.dataset, ...fast, ...more];
}

/** By line: rows are told in the order in which they were sent, and they were sent side by side. */
const verdicts = (stdout: string): readonly unknown[] =>
	parseLines(stdout)
		.filter((line) => at(line, "type") === "verify")
		.toSorted((left, right) => Number(at(left, "line")) - Number(at(right, "line")));

const idsOf = (lines: readonly unknown[]): string[] => lines.map((line) => String(at(line, "document_id"))).toSorted();

/** Requests that may write. Those that find a flavour out name a document that nobody has. */
const writesIn = ({ requests, dataset }: Service): number =>
	requests.filter((line) => !line.startsWith("GET") && line.includes(dataset)).length;

/** The command behind the last colon of the last line on standard error. */
function nextOf({ stderr }: Ended): string[] {
	const command = /: (ragtag .*)$/.exec(stderr.trim().split("\n").at(-1) ?? "")?.[1] ?? "";
	return command.split(" ").slice(1);
}

/** One update in a hundred is answered with success, and not applied. */
const LIES = { faults: { faults: [{ fault: "lie", on: { method: "PUT", every: 100, to: 1_000 } }] } };

describe("writes that a service confirms and does not store", () => {
	it("are all found, right after the run and later, and the printed command sends them again", async () => {
		const world = await recorded(1_000, LIES);
		const argv = await tagging(world, (n) => ({ author: `Ann ${n}`, pages: n }), "--verify", "all");
		const ended = await world.run(argv, { clock: hurried });
		const held = await world.service.documents();
		const lost = held.filter(({ metadata }) => !String(at(metadata, "author")).startsWith("Ann"));
		expect(lost).toHaveLength(10);

		const counts = { checked: 1_000, equal: 990, normalised: 0, lost: 10, changed_since: 0, unknown: 0, pending: 0 };
		expect(ended.exit).toBe(10);
		expect(summaryOf(ended.stdout)).toMatchObject({
			updated: 1_000,
			verified: false,
			verify: { mode: "all", rows: 1_000, ...counts },
			exit_code: 10,
		});
		expect(idsOf(verdicts(ended.stdout))).toEqual(lost.map(({ id }) => id).toSorted());
		for (const line of verdicts(ended.stdout)) {
			expect(line).toMatchObject({ result: "lost", keys: ["author", "pages"], listed: true, later_run: null });
		}
		expect(ended.stderr).toContain(`document ${lost[0]?.name} (${lost[0]?.id}): lost: author, pages`);
		expect(ended.stderr).toContain(
			"Verified 1,000 rows: 990 equal, 0 normalised by the service, 10 lost, 0 changed since.",
		);

		const writes = writesIn(world.service);
		const again = await ends(world.run(["runs", "verify", ...fast], { clock: hurried }), 10, {
			run: runOf(ended.stdout),
			rows: 1_000,
			unchanged: 1_000,
			verified: false,
			verify: counts,
		});
		expect(idsOf(verdicts(again.stdout))).toEqual(idsOf(verdicts(ended.stdout)));
		expect(writesIn(world.service)).toBe(writes);

		const command = nextOf(again);
		expect(command).toContain("--only-changed");
		await ends(world.run([...command, ...fast, "--verify", "all"]), 0, { updated: 10, unchanged: 990, verified: true });
		await ends(world.run(["runs", "verify", runOf(ended.stdout), ...fast]), 0, {
			verified: true,
			verify: { equal: 1_000, lost: 0 },
		});
	});

	it("are found in the metadata of uploads", async () => {
		const world = await recorded(0, { faults: { faults: [{ fault: "lie", on: { method: "PUT", nth: 3 } }] } });
		const root = await folder();
		for (const n of range(4)) await writeFile(`${root}/${n}.txt`, `file ${n}`);
		await writeFile(`${root}/files.csv`, `file,author\n${linesOf(4, (n) => `${n}.txt,Ann`)}`);
		const argv = ["docs", "upload", `${root}/files.csv`, "-d", world.service.dataset, "--concurrency", "1", ...fast];
		const ended = await world.run([...argv, "--verify", "all"], { clock: hurried });
		const [lost] = (await world.service.documents()).filter(({ metadata }) => at(metadata, "author") === undefined);
		expect(summaryOf(ended.stdout)).toMatchObject({ uploaded: 4, verify: { equal: 3, lost: 1 }, exit_code: 10 });
		expect(verdicts(ended.stdout)).toMatchObject([{ line: 4, document_id: lost?.id, keys: ["author"] }]);

		await ends(world.run([...nextOf(ended), ...fast]), 0, { updated: 4 });
		await ends(world.run(["runs", "verify", runOf(ended.stdout), ...fast]), 0, { rows: 4, verify: { equal: 4 } });
	});

	it("are found in the rows of all executions of a run, and next to failed rows", async () => {
		const world = await recorded(30, stopAt(10));
		const argv = await tagging(world, (n) => ({ n }), "--concurrency", "1", "--chunk", "1");
		const first = await ends(world.run(argv), 4, { updated: 9, verify: null });
		const early = await world.run(["runs", "verify", runOf(first.stdout), ...fast]);
		expect(summaryOf(early.stdout)).toMatchObject({ rows: 9, verify: { equal: 9 } });
		// What was never sent is not verified either: nine rows that are well are not a run that is.
		expect(early.stderr).toContain(`did not end: 21 rows of it are pending, and can't be verified`);
		await world.service.put(String((await world.service.ids())[3]), { category: "news" });
		const second = await world.run(["runs", "resume", runOf(first.stdout), ...fast, "--verify", "all"], {
			clock: hurried,
		});
		expect(summaryOf(second.stdout)).toMatchObject({ updated: 29, failed: 1, verify: { equal: 29 } });
	});

	it("are found in the rows of a plan, and the plan sends them again", async () => {
		const world = await recorded(20, { faults: { faults: [{ fault: "lie", on: { method: "PUT", nth: 7 } }] } });
		const plan = `${await folder()}/plan.jsonl`;
		const [, , ...words] = await tagging(world, (n) => ({ n }), "--concurrency", "1");
		await world.run(["docs", "plan", ...words, "--out", plan]);
		const argv = ["docs", "apply", plan, "--concurrency", "1", ...fast, "--verify", "all"];
		const ended = await world.run(argv, { clock: hurried });
		expect(summaryOf(ended.stdout)).toMatchObject({ updated: 20, verify: { equal: 19, lost: 1 }, exit_code: 10 });

		const mended = await world.run([...nextOf(ended), ...fast, "--verify", "all"]);
		expect(summaryOf(mended.stdout)).toMatchObject({ updated: 1, unchanged: 19, verify: { equal: 1 }, exit_code: 0 });
		await ends(world.run(["runs", "verify", runOf(ended.stdout), ...fast]), 0, { rows: 20, verify: { equal: 20 } });
	});

	it("are found in the rows of an undo", async () => {
		const world = await recorded(20, { faults: { faults: [{ fault: "lie", on: { method: "PUT", nth: 55 } }] } });
		await world.run(await tagging(world, (n) => ({ old: n }), "--concurrency", "1"));
		const tagged = await world.run(await tagging(world, (n) => ({ n }), "--concurrency", "1"));
		const undo = ["runs", "undo", runOf(tagged.stdout), "--yes", "--concurrency", "1", ...fast, "--verify", "all"];
		const ended = await world.run(undo, { clock: hurried });
		expect(summaryOf(ended.stdout)).toMatchObject({ updated: 20, verify: { equal: 19, lost: 1 }, exit_code: 10 });
		// What was undone is no loss of the run that did it.
		const first = await world.run(["runs", "verify", runOf(tagged.stdout), ...fast]);
		expect(summaryOf(first.stdout)).toMatchObject({ verify: { equal: 1, changed_since: 19, lost: 0 }, exit_code: 0 });
	});

	it("do not include an upload that was answered with a request to slow down, and still stored", async () => {
		const after: PlannedFault = {
			fault: "status",
			status: 429,
			when: "after",
			on: { method: "POST", path: "documents", nth: 1 },
		};
		const world = await recorded(0, { faults: { faults: [after] } });
		const path = await file("a.txt", "text");
		const argv = ["docs", "upload", path, "-d", world.service.dataset, "--set", "author=Ann", ...fast];
		await ends(world.run(argv, { clock: hurried }), 0, { uploaded: 1 });
		expect(await world.service.documents()).toHaveLength(1);
		await ends(world.run(["runs", "verify", ...fast]), 0, { rows: 1, verify: { equal: 1, unknown: 0 } });
	});

	it("are also searched for after a limit stopped the run", async () => {
		const world = await recorded(4);
		const ids = (await world.service.ids()).with(2, "missing");
		const path = await file("tags.csv", `document_id,n\n${ids.map((id, n) => `${id},${n}\n`).join("")}`);
		const argv = ["docs", "tag", path, "-d", world.service.dataset, ...fast];
		const limits = ["--max-errors", "1", "--concurrency", "1", "--chunk", "1", "--verify", "all"];
		await ends(world.run([...argv, ...limits]), 9, { updated: 2, failed: 1, verify: { equal: 2 } });
	});
});

describe("what is not a loss", () => {
	it("is a later write of another client: it is reported, and is no failure", async () => {
		const world = await recorded(20);
		await world.run(await tagging(world, (n) => ({ n, author: "Ann" })));
		const id = String((await world.service.ids())[7]);
		await world.service.put(id, { n: 7, author: "Bob", more: true });
		const { stdout, stderr } = await ends(world.run(["runs", "verify", ...fast]), 0, {
			verified: true,
			verify: { equal: 19, changed_since: 1, lost: 0 },
		});
		expect(verdicts(stdout)).toMatchObject([
			{ line: 8, document_id: id, result: "changed_since", keys: ["author", "more"] },
		]);
		expect(stderr).toContain(`document document-0000008.txt (${id}): changed since: author, more`);
	});

	it("is not a value that the service altered right after the run: exit 10", async () => {
		const trimmed = { fault: "normalise", how: "trim", when: "after", on: { method: "PUT", from: 5 } } as const;
		const world = await recorded(20, { faults: { faults: [trimmed] } });
		const argv = await tagging(world, (n) => ({ n, author: ` Ann ${n} ` }), "--concurrency", "1", "--verify", "all");
		const { stdout, stderr } = await ends(world.run(argv), 10, { updated: 20 });
		expect(summaryOf(stdout)).toMatchObject({ verify: { equal: 4, lost: 0, changed_since: 16 } });
		expect(stderr).toContain("or by the service, which does not keep what it is sent");
		expect(stderr.trimEnd()).toMatch(/Check again with: ragtag runs verify \S+$/);
		// Later it may be anybody's doing.
		expect((await world.run(["runs", "verify", ...fast])).exit).toBe(0);
	});

	it("is a later run's own write or removal, even if it equals the previous value", async () => {
		const world = await recorded(20);
		const [gone = "", back = ""] = await world.service.ids();
		const before = (await world.service.documents())[1]?.metadata;
		const first = await world.run(await tagging(world, (n) => ({ n })));
		const path = await file("back.jsonl", JSON.stringify({ document_id: back, meta_fields: before }));
		const second = await world.run(["docs", "tag", path, "-d", world.service.dataset, ...fast]);
		const third = await world.run(["docs", "rm", "--id", gone, "-d", world.service.dataset, "--yes", ...fast]);
		const { stdout, stderr } = await world.run(["runs", "verify", runOf(first.stdout), ...fast]);
		expect(summaryOf(stdout)).toMatchObject({ verify: { equal: 18, changed_since: 2, lost: 0 }, exit_code: 0 });
		// Rows are recorded as they come back, side by side.
		expect(verdicts(stdout)).toHaveLength(2);
		for (const verdict of [
			{ document_id: gone, listed: false, later_run: runOf(third.stdout) },
			{ document_id: back, listed: true, later_run: runOf(second.stdout) },
		]) {
			expect(verdicts(stdout)).toContainEqual(expect.objectContaining(verdict));
		}
		expect(stderr).toContain(`changed since: run ${runOf(third.stdout)} wrote it again`);
		const removal = await world.run(["runs", "verify", ...fast]);
		expect(summaryOf(removal.stdout)).toMatchObject({ run: runOf(third.stdout), rows: 1, verify: { equal: 1 } });
	});

	it("is a value that an index shows late", async () => {
		let [late, shown] = [false, 0];
		const old = { total: 1, docs: [{ id: "doc-0", dataset_id: "set", name: "doc-0.txt", meta_fields: {} }] };
		const service = await liar(1, ({ method, path, query }) => {
			if (!late || method !== "GET" || !path.endsWith("/documents") || Number(query.get("page") ?? 1) > 1)
				return undefined;
			shown += 1;
			// The first page that is looked at for its metadata, the row's look, and the first look after that.
			return shown <= 3 ? { code: 0, data: old } : undefined;
		});
		const home = await folder();
		const path = await file("tags.csv", "document_id,a\ndoc-0,new\n");
		const env = envOf(service);
		await ragtag(["docs", "tag", path, "-d", "set", ...fast], { env, home });
		late = true;
		const { stdout } = await ragtag(["runs", "verify", ...fast], { env, home, clock: hurried });
		expect(shown).toBeGreaterThan(3);
		expect(summaryOf(stdout)).toMatchObject({ verify: { equal: 1, lost: 0 }, exit_code: 0 });
	});
});

describe("what is a loss, or is unknown", () => {
	it("a document that was removed", async () => {
		const service = await liar(5, () => undefined);
		const home = await folder();
		const path = await file("tags.csv", `document_id,a\n${linesOf(5, (n) => `doc-${n},${n}`)}`);
		const world = { env: envOf(service), home, clock: hurried };
		await ragtag(["docs", "tag", path, "-d", "set", ...fast], world);
		service.held.delete("doc-2");
		const { stdout } = await says(
			ragtag(["runs", "verify", ...fast], world),
			10,
			"tags.csv:4: document doc-2: lost: it is not in the dataset any more",
		);
		expect(verdicts(stdout)).toMatchObject([{ line: 4, document_id: "doc-2", keys: [], listed: false }]);
	});

	it("a removed document that still exists", async () => {
		const service = await liar(3, () => undefined);
		const world = { env: envOf(service), home: await folder(), clock: hurried };
		const argv = ["docs", "rm", "--id", "doc-0", "doc-1", "-d", "set", "--yes", ...fast, "--verify", "all"];
		await ends(ragtag(argv, world), 0, { removed: 2, verify: { equal: 2, lost: 0 } });
		service.held.set("doc-1", {});
		const { stderr } = await ends(ragtag(["runs", "verify", ...fast], world), 10, {
			rows: 2,
			verify: { equal: 1, lost: 1 },
		});
		expect(stderr).toContain("document doc-1.txt (doc-1): lost: it was removed, but is in the dataset");
	});

	it("a dataset that is refused: its rows count as failed, neither as lost nor as equal", async () => {
		let refuses = false;
		const service = await liar(3, ({ method, path, query }) =>
			refuses && method === "GET" && path.endsWith("/documents") && query.get("id") !== null
				? { code: 102, message: "You don't own the dataset set." }
				: undefined,
		);
		const world = { env: envOf(service), home: await folder(), clock: hurried };
		const path = await file("tags.csv", "document_id,a\ndoc-0,1\n");
		await ragtag(["docs", "tag", path, "-d", "set", ...fast], world);
		refuses = true;
		const { stderr } = await ends(ragtag(["runs", "verify", ...fast], world), 1, {
			rows: 1,
			failed: 1,
			verified: false,
			verify: { unknown: 1, lost: 0 },
		});
		expect(stderr.trim()).toMatch(/1 could not be checked\. Check again with: ragtag runs verify \S+$/);
		expect(stderr).toMatch(/document doc-0: could not be checked: \w+: .*own the dataset/);
	});
});

describe("how much is read back", () => {
	it("--verify sample reads a small run whole, and 300 rows of a long one", async () => {
		const small = await recorded(20);
		const all = await small.run(await tagging(small, (n) => ({ n }), "--verify", "sample"));
		expect(summaryOf(all.stdout)).toMatchObject({ verify: { mode: "sample", rows: 20, checked: 20, equal: 20 } });
		const long = await recorded(400);
		const some = await long.run(
			(await tagging(long, (n) => ({ n }), "--verify", "sample")).filter((w) => w !== "--json"),
		);
		expect(some.stderr).toContain("Verified 300 of 400 rows: 300 equal");
	});

	it("a sample that shows a loss prints the command that finds all", async () => {
		const world = await recorded(5, { faults: { faults: [{ fault: "lie", on: { method: "PUT", nth: 4 } }] } });
		const argv = await tagging(world, (n) => ({ n }), "--concurrency", "1", "--verify", "sample");
		const ended = await world.run(argv, { clock: hurried });
		expect(ended.exit).toBe(10);
		expect(nextOf(ended)).toEqual(["runs", "verify", runOf(ended.stdout)]);
	});

	it("is what was read before a limit or a signal; the rest is pending", async () => {
		const world = await recorded(50);
		const argv = await tagging(world, (n) => ({ n }));
		const tagged = await world.run(argv);
		// A tenth of a second passes each time that somebody looks.
		let now = 0;
		const limited = await world.run(["runs", "verify", "--max-duration", "2s", ...fast], {
			clock: { ...hurried, now: () => (now += 100) },
		});
		expect(limited.exit).toBe(9);
		const seen = summaryOf(limited.stdout);
		expect(at(seen, "unchanged")).toBeGreaterThan(0);
		expect(at(seen, "pending")).toBeGreaterThan(0);
		expect(seen).toMatchObject({ verified: false, verify: { lost: 0, checked: at(seen, "unchanged") } });
		expect(limited.stderr).toMatch(/stopped by --max-duration 2s\n.*Begin again with: ragtag runs verify/);

		const stopping = new AbortController();
		const ended = await ends(
			world.run([...argv, "--verify", "all"], {
				signal: stopping.signal,
				onError: (text) => {
					if (text.includes("Reading back")) stopping.abort({ exit: 130, text: "stopped by SIGINT" });
				},
			}),
			130,
			{ updated: 50, pending: 0, verified: false, verify: { pending: 50 } },
		);
		expect(ended.stderr).toContain(`Verify it with: ragtag runs verify ${runOf(ended.stdout)}`);

		const again = new AbortController();
		again.abort({ exit: 143, text: "stopped by SIGTERM" });
		await ends(world.run(["runs", "verify", runOf(tagged.stdout), ...fast], { signal: again.signal }), 143, {
			rows: 50,
			unchanged: 0,
			pending: 50,
			verified: false,
		});
	});
});

describe("what is refused", () => {
	const blind = (): Promise<Awaited<ReturnType<typeof liar>>> =>
		liar(3, ({ method, path }) =>
			method === "GET" && path.endsWith("/documents")
				? { code: 0, data: { total: 1, docs: [{ id: "doc-0", dataset_id: "set", name: "doc-0.txt" }] } }
				: undefined,
		);

	it("runs verify of such a service, and of another address than the run's", async () => {
		const service = await blind();
		const world = { env: envOf(service), home: await folder(), clock: hurried };
		const path = await file("tags.csv", "document_id,a\ndoc-0,1\n");
		await ends(ragtag(["docs", "tag", path, "-d", "set", ...fast], world), 0, { updated: 1, verified: false });
		const hidden = await ragtag(["runs", "verify", ...fast], world);
		await ends(hidden, 2, { rows: 1, pending: 1, verify: { pending: 1, checked: 0 } });
		const elsewhere = await ragtag(["runs", "verify", "--base-url", "http://127.0.0.1:9"], world);
		await says(elsewhere, 8, `wrote to ${service.url}/api/v1`);
	});

	it("nothing if a run has written nothing, with the reason", async () => {
		const world = await recorded(2);
		const argv = await tagging(world, () => ({ n: 1 }), "--only-changed");
		await world.run(argv);
		const second = await world.run(argv);
		const named = await world.run(["runs", "verify", runOf(second.stdout), ...fast]);
		expect(named).toMatchObject({ exit: 0, stderr: expect.stringContaining("has written nothing") });
		await ends(world.run(["runs", "verify", ...fast]), 0, { rows: 2, verify: { equal: 2 } });
	});
});

it("a surplus answer, for which a refused row counts as updated, is noticed, and the run is read back", async () => {
	const world = await recorded(14);
	// A success names no document, so one is like the other.
	const success = '{"code":0}';
	const url = await proxy(world.service, async ({ method, nth, socket }, pass) => {
		if (method !== "PUT") return pass();
		if (nth !== 12) return (await pass()).startsWith('{"code":0,') ? success : "";
		// The answer to another row comes first, and the right one when the connection is idle.
		socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n${success}`);
		await new Promise((resolve) => setTimeout(resolve, 30));
		return JSON.stringify({ code: 102, message: "not this one" });
	});
	const argv = await tagging(world, (n) => ({ author: `Ann ${n}` }), "--concurrency", "1");
	const env = { ...envOf(world.service), RAGTAG_BASE_URL: url };
	const { stderr } = await ends(
		world.run([...argv.filter((word) => word !== "unlimited" && word !== "--rate"), "--rate", "15"], { env }),
		10,
		{ updated: 14, verify: { lost: 1 } },
	);
	expect(stderr).toContain("an answer came that no request had waited for");
});
