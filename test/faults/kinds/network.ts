import { once } from "node:events";
import { connect } from "node:net";
import { createServer as createHttpServer } from "node:http";
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished } from "vitest";
import { startSandbox } from "../../../src/sandbox/index.ts";
import { liar } from "../../support/liar.ts";
import { program, shell } from "../../support/program.ts";
import { envOf } from "../../support/ragtag.ts";
import { file, folder, KEY } from "../../support/service.ts";
import { at, linesOf, range, summaryOf } from "../../support/values.ts";
import { manifestOf, ownService, planned, serviceOf, stateOf, trial, uploaded, withoutKeyIn } from "../rig/trial.ts";
import { listening, wayTo } from "../rig/ways.ts";
import { section } from "../table.ts";
import { failedWith, rowByRow } from "./http.ts";

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** An id, so that no list of datasets is asked for before a run is recorded. */
export const DATASET = "d".repeat(32);

/** A run against an address behind which nothing is ever written: no row may count as anything but pending. */
export async function nowhere(
	url: string,
	exits: number | readonly number[],
	{ args = [], env = {} }: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
	const state = await stateOf();
	const argv = ["docs", "tag", await manifestOf(10, 1), "-d", DATASET, "--json", "--state-dir", state, ...args];
	const ended = await program(argv, { ...envOf({ url }), ...env });
	const { exit } = ended;
	const isMeant = [exits].flat().includes(exit);
	expect({ isMeant, stderr: isMeant ? "" : ended.stderr }).toEqual({ isMeant: true, stderr: "" });
	// Exit 2 comes before a manifest is opened, and has no summary then.
	if (exit !== 2) {
		const left = exit === 9 ? {} : { failed: 0, pending: 10 };
		expect(summaryOf(ended.stdout)).toMatchObject({ rows: 10, updated: 0, exit_code: exit, ...left });
	}
	await withoutKeyIn(ended, state);
	return ended.stderr;
}

export const network = section("documented", (test) => {
	test("N1 quick: a server that restarts under a run costs no row", async (flavour) => {
		const { verb } = await serviceOf(flavour);
		const faults = [{ fault: "outage", milliseconds: 1_000, on: { method: verb, nth: 8 } }];
		await trial(flavour, { faults, exit: 0, args: ["--concurrency", "2"] });
	});
	test("N1: a server that stays away ends the run resumable, and the run goes on where it stopped", async () => {
		const data = join(await folder(), "sandbox.db");
		const service = await ownService({ data, latency: 40 });
		const { control, sandbox } = service;
		const { summary, state } = await trial(service, {
			faults: [],
			rows: 40,
			exit: 6,
			args: ["--concurrency", "1", "--max-outage", "1s"],
			during: async () => {
				await expect.poll(() => control.counts().applied).toBeGreaterThan(5);
				await sandbox.close();
			},
		});
		expect(at(summary, "failed")).toBe(0);
		expect(at(summary, "pending")).toBeGreaterThan(0);
		const again = await startSandbox({ port: sandbox.port, data, key: KEY, control: true });
		onTestFinished(() => again.close());
		const resumed = await program(["runs", "resume", "--json", "--state-dir", state], envOf(again));
		expect([resumed.exit, summaryOf(resumed.stdout)]).toEqual([
			0,
			expect.objectContaining({ rows: 40, updated: 40, pending: 0 }),
		]);
		// At most the one that was in flight goes out twice.
		expect(again.control?.counts().applied).toBeLessThanOrEqual(Number(at(summary, "pending")));
		await withoutKeyIn(resumed, state);
	});
	test("N2 none: a black hole is no place to wait for ever", async () => {
		// A process that is stopped accepts nothing, and its queue is soon full: what comes then is not answered at all.
		const script =
			'require("net").createServer().listen({port:0,host:"127.0.0.1",backlog:1},function(){console.log(this.address().port)})';
		const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
		onTestFinished(() => void child.kill("SIGKILL"));
		const [line]: unknown[] = await once(child.stdout, "data");
		const port = Number(String(line));
		child.kill("SIGSTOP");
		const fillers = range(8).map(() => connect(port, "127.0.0.1").on("error", () => undefined));
		onTestFinished(() => fillers.forEach((socket) => socket.destroy()));
		await wait(200);
		const args = ["--timeout", "1s", "--max-outage", "1s"];
		expect(await nowhere(`http://127.0.0.1:${port}`, 6, { args })).toContain("no connection");
	});
	test("N3 none: a name that does not exist ends the run, and every row is pending", async () => {
		const stderr = await nowhere("http://nonexistent.invalid", 6, { args: ["--attempts", "2"] });
		expect(stderr).toMatch(/no such host|could not be looked up/);
	});
	test("N4 quick: a reset before any answer, whether or not the row was applied, costs no row", async (flavour) => {
		const faults = ["before", "after"].flatMap((when) => [
			{ fault: "reset", when: when as "before" | "after" },
			{ fault: "reset", when: when as "before" | "after" },
		]);
		await trial(flavour, { faults: rowByRow(faults, 2), exit: 0 });
		const forEver = await trial(flavour, {
			faults: rowByRow([{ fault: "reset", when: "before" }]),
			exit: 1,
			failed: failedWith([/^CONNECTION_/]),
			args: ["--attempts", "2"],
		});
		expect(forEver.updated.size).toBe(19);
	});
	test("N4 all: an upload whose answer is reset is not stored twice", async (flavour) => {
		const at4 = await folder();
		const paths = range(5).map((n) => join(at4, `reset-${n}.txt`));
		for (const path of paths) await writeFile(path, path);
		const { summary, stored, fired } = await uploaded(flavour, paths, [
			{ fault: "reset", when: "after", on: { method: "POST", nth: 2 } },
			{ fault: "reset", when: "before", on: { method: "POST", nth: 3 } },
		]);
		// What the list shows is taken up; what it does not show was never stored, or is said to be unknown.
		expect(at(summary, "uploaded")).toBe(stored.length);
		expect(new Set(stored).size).toBe(stored.length);
		expect(Number(at(summary, "uploaded")) + Number(at(summary, "failed"))).toBe(5);
		expect(fired).toEqual([1, 1]);
	});
	test("N5: an empty reply, whether or not the row was applied, costs no row", async (flavour) => {
		const faults = (["before", "after"] as const).map((when) => ({ fault: "close", when }));
		await trial(flavour, { faults: rowByRow(faults, 2), exit: 0 });
	});
	test("N6: an answer that is cut at any of its bytes is no success", async (flavour) => {
		for (const how of ["fin", "rst"]) {
			for (const from of range(8).map((n) => n * 24)) {
				const faults = range(24, from).map((place, index) => ({
					fault: "cut",
					at: place,
					how,
					when: "before" as const,
					// Twenty failures in a row would be an outage.
					row: 2 * index + 2,
					tries: 1,
				}));
				await trial(flavour, { faults, rows: 50, exit: 0 });
			}
		}
	});
	test("N7: keep-alive connections that a server closes under the next request cost no row", async (flavour) => {
		for (const how of ["fin", "rst"]) {
			const faults = [{ fault: "stale-connection", how, jitter: 10, on: { path: "/documents/" } }];
			const { summary } = await trial(flavour, { faults, rows: 60, exit: 0 });
			expect(at(summary, "failed")).toBe(0);
		}
	});
	test("N9 quick: a request that is never answered is given up after --timeout and costs no row", async (flavour) => {
		const faults = (["before", "after"] as const).map((when) => ({ fault: "silence", when }));
		await trial(flavour, { faults: rowByRow(faults, 1), exit: 0, args: ["--timeout", "500ms"] });
		await trial(flavour, {
			faults: rowByRow([{ fault: "silence", when: "before" }]),
			exit: 1,
			failed: { 2: "TIMEOUT" },
			args: ["--timeout", "500ms", "--attempts", "2"],
		});
	});
	test("N10: an answer that stops after its headers is given up and is no success", async (flavour) => {
		const faults = [0, 1, 20].map((place) => ({ fault: "stall", at: place, when: "before" as const }));
		await trial(flavour, { faults: rowByRow(faults, 1), exit: 0, args: ["--timeout", "500ms"] });
	});
	test("N11: an answer that drips for ever is given up after --timeout, although it goes on", async (flavour) => {
		const faults = [{ fault: "drip", milliseconds: 50, forever: true, row: 2, tries: 1 }];
		const { summary } = await trial(flavour, { faults, exit: 0, args: ["--timeout", "1s"] });
		expect(at(summary, "seconds")).toBeLessThan(20);
	});
	test("N12: an upload that the server does not read is given up, and is stored at most once", async (flavour) => {
		const path = await file("large.txt", Buffer.alloc(8_000_000, "x"));
		const faults = [{ fault: "no-read", on: { method: "POST", nth: 1 } }];
		const { exit, summary, stored, fired } = await uploaded(flavour, [path], faults);
		expect([at(summary, "rows"), at(summary, "uploaded"), fired]).toEqual([1, stored.length, [1]]);
		expect(exit).toBe(stored.length === 1 ? 0 : 1);
	});
	test("N13: a slow line makes a run slow, not wrong", async (flavour) => {
		const faults = [{ fault: "bandwidth", bytes: 2000, on: { method: "PUT", every: 3 } }];
		await trial(flavour, { faults, exit: 0 });
	});
	test("N14: answers that come byte by byte are read like any other", async (flavour) => {
		await trial(flavour, { faults: [{ fault: "slice", on: {} }], exit: 0 });
	});
	test("N15: latency and jitter cost time, not rows", async (flavour) => {
		await trial(flavour, { faults: [{ fault: "delay", milliseconds: 50, jitter: 150, on: {} }], rows: 40, exit: 0 });
	});
	test("N16: a peer that vanishes without a word is given up after --timeout, and the run stops resumable", async () => {
		const service = await ownService({ latency: 30 });
		const way = await wayTo(service.sandbox.port);
		const { summary } = await trial(service, {
			faults: [],
			rows: 40,
			url: `http://127.0.0.1:${way.port}`,
			exit: 6,
			args: ["--concurrency", "1", "--timeout", "500ms", "--max-outage", "2s", "--attempts", "50"],
			during: async () => {
				const applied = (): number => service.control.counts().applied;
				await expect.poll(applied).toBeGreaterThan(5);
				way.vanish();
			},
		});
		expect(summary).toMatchObject({ failed: 0 });
		expect(at(summary, "pending")).toBeGreaterThan(0);
	});
	test("N17: a service on 127.0.0.1 is found under the name localhost", async (flavour) => {
		const { sandbox } = await serviceOf(flavour);
		await trial(flavour, { faults: [], url: `http://localhost:${sandbox.port}`, exit: 0 });
	});
	test("N18: a process without file descriptors left counts no row that was not written", async (flavour) => {
		const delay = { fault: "delay", milliseconds: 100, on: { method: "PUT" } };
		const { control, dataset, state, env } = await planned(flavour, [delay]);
		const path = await manifestOf(60, 70_000);
		const flags = `-d ${dataset} --json --rate 5000 --concurrency 64 --max-outage 3s --state-dir ${state}`;
		const ended = await shell(`ulimit -n 40; exec $RAGTAG docs tag ${path} ${flags}`, env);
		const summary = summaryOf(ended.stdout);
		expect([0, 6, 7]).toContain(ended.exit);
		expect(at(summary, "failed")).toBe(0);
		expect(at(summary, "updated")).toBeLessThanOrEqual(control.counts().applied);
		if (ended.exit === 0) expect(at(summary, "updated")).toBe(60);
		await withoutKeyIn(ended, state);
	});
	test("N19: a server that closes each connection, with many at once, costs no row", async (flavour) => {
		const faults = [{ fault: "connection-close", on: {} }];
		for (let turn = 0; turn < 3; turn++) {
			await trial(flavour, { faults, rows: 60, exit: 0, args: ["--concurrency", "32"] });
		}
	});
	test("N20 none quick: a proxy sees all that goes to another machine, and nothing that goes to this one", async (flavour) => {
		const proxy = await liar(60, () => undefined);
		const asked = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, HTTPS_PROXY: proxy.url };
		await trial(flavour, { faults: [], exit: 0, env: asked });
		expect(proxy.requests).toEqual([]);
		const state = await stateOf();
		const manifest = await file("tags.csv", `document_id,n:number\n${linesOf(10, (n) => `doc-${n},${n}`)}`);
		const argv = ["docs", "tag", manifest, "-d", "set", "--json", "--state-dir", state];
		const ended = await program(argv, { ...envOf({ url: "http://rag.invalid" }), ...asked });
		expect({ exit: ended.exit, stderr: ended.exit === 0 ? "" : ended.stderr }).toEqual({ exit: 0, stderr: "" });
		expect(summaryOf(ended.stdout)).toMatchObject({ rows: 10, updated: 10 });
		expect(range(10).map((n) => proxy.held.get(`doc-${n}`))).toEqual(range(10).map((n) => ({ n })));
		await withoutKeyIn(ended, state);
	});
	test("N21 none: a proxy that wants credentials, or can't reach the service, ends the run with all rows pending", async () => {
		for (const [status, exit] of [
			[407, 4],
			[502, 6],
		] as const) {
			const server = createHttpServer((request, response) => {
				request.resume();
				response.writeHead(status, { "content-type": "text/html" }).end("<title>Bad Gateway</title>");
			}).on("connect", (_request, socket) => socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`));
			const { port } = await listening(server);
			const proxy = `http://user:secret-of-proxy@127.0.0.1:${port}`;
			const env = { http_proxy: proxy, https_proxy: proxy };
			for (const scheme of ["http", "https"]) {
				// A 502 that comes for each row may use up their tries first: then they are refused alike, exit 9.
				const exits = scheme === "http" && status === 502 ? [exit, 9] : [exit];
				const stderr = await nowhere(`${scheme}://rag.invalid`, exits, { env, args: ["--max-outage", "1s"] });
				expect(stderr).not.toContain("secret-of-proxy");
			}
		}
	});
});
