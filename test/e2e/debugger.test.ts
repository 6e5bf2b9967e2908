import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { portsOf, tellsPorts } from "../support/ports.ts";
import { isExecutable, program, PROGRAM, type Running, start, startOpen } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, serve } from "../support/service.ts";
import { summaryOf } from "../support/values.ts";

const OPENED = "Debugger listening";

/** Sends the signal, and waits until the program has answered it. */
async function asked(running: Running): Promise<void> {
	const before = running.err().split("status: ").length;
	running.child.kill("SIGUSR1");
	await running.until((_out, err) => err.split("status: ").length > before);
	expect(running.err()).not.toContain(OPENED);
	if (tellsPorts) expect(portsOf(running.child.pid ?? 0)).toEqual([]);
}

it("SIGUSR1 prints how far the run is and opens no debugger, through which any process could read the key", async () => {
	const service = await serve(60, { latency: 40 });
	const ids = await service.ids();
	const path = await file("tags.csv", `document_id,n:number\n${ids.map((id, n) => `${id},${n}\n`).join("")}`);
	const argv = ["docs", "tag", path, "-d", service.dataset, "--concurrency", "2", "--json", "-q"];
	const running = start(argv, envOf(service));
	await running.until((out) => out.includes('"version"'));
	await asked(running);
	await expect.poll(() => service.requests.length).toBeGreaterThan(12);
	await asked(running);
	expect(running.err()).toMatch(/status: running, \d+\/60 rows/);
	await asked(running);
	expect((await running.ended).exit).toBe(0);
	expect(summaryOf(running.out())).toMatchObject({ updated: 60 });
});

it("SIGUSR1 only prints while the program waits for its input", async () => {
	const running = startOpen(["manifest", "check", "-", "-d", "set", "--json"]);
	await running.until((out) => out.includes('"version"'));
	await asked(running);
	running.child.stdin?.end("document_id,a\none,1\n");
	expect((await running.ended).exit).toBe(0);
});

it.each([0, 10, 25, 50, 100, 200])(
	"a signal %i ms after the start, while Node itself starts, leaves no process with an open debugger",
	async (milliseconds) => {
		const running = startOpen(["manifest", "check", "-", "-d", "set"]);
		await new Promise((resolve) => setTimeout(resolve, milliseconds));
		running.child.kill("SIGUSR1");
		// It ends at once, or it has come to its input and is asked there.
		const isThere = running.until((_out, err) => err.includes("status: ")).then(() => asked(running));
		await Promise.race([isThere.catch(() => undefined), running.ended, untilReading(running)]);
		if (running.child.exitCode === null && running.child.signalCode === null) {
			if (!running.err().includes(OPENED)) await asked(running);
			running.child.stdin?.end("document_id,a\none,1\n");
		}
		const { exit, stdout } = await running.ended;
		if (!running.err().includes(OPENED)) {
			// The signal ended a process that was not Node yet, or the program has done its work.
			expect([128 + constants.signals.SIGUSR1, 0]).toContain(exit);
			return;
		}
		expect([exit, stdout]).toEqual([137, ""]);
		expect(running.err()).toContain("nothing was sent\nRun the same command again.");
	},
);

/** The program is there when it answers; before that, the signal may have been lost or have ended it. */
async function untilReading(running: Running): Promise<void> {
	const over = (): boolean => running.child.exitCode !== null || running.child.signalCode !== null;
	while (!over() && !running.err().includes("status: ")) {
		await new Promise((resolve) => setTimeout(resolve, 50));
		// A second signal during the start is as good as the first.
		if (!over()) running.child.kill("SIGUSR1");
	}
}

it("a debugger set in NODE_OPTIONS stays: its user may read the environment anyway", async () => {
	const { exit, stderr } = await program(["--version"], { NODE_OPTIONS: "--inspect=127.0.0.1:0" });
	expect([exit, stderr]).toEqual([0, expect.stringContaining(OPENED)]);
});

it.skipIf(isExecutable).each(["", "--inspect-port=0 "])(
	"a debugger that was not asked for ends the program at once, also while a process is attached to it: %s--require",
	async (option) => {
		const attached = join(await folder(), "attached");
		// Opens a debugger, and goes on when a process is attached.
		const opens = await file(
			"opens.cjs",
			`require("node:inspector").open(0, "127.0.0.1");
			while (!require("node:fs").existsSync(${JSON.stringify(attached)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);`,
		);
		const running = startOpen(["manifest", "check", "-", "-d", "set"], { NODE_OPTIONS: `${option}--require=${opens}` });
		await running.until((_out, err) => /ws:\S+/.test(err));
		const url = /ws:\S+/.exec(running.err())?.[0] ?? "";
		const headers = {
			connection: "upgrade",
			upgrade: "websocket",
			"sec-websocket-version": "13",
			"sec-websocket-key": "a".repeat(22) + "==",
		};
		const client = request(url.replace("ws:", "http:"), { headers }).end();
		await once(client, "upgrade");
		await writeFile(attached, "");
		expect((await running.ended).exit).toBe(137);
		expect(running.err()).toContain("nothing was sent\nRun the same command again.");
	},
);

it.skipIf(isExecutable)("the program installs the SIGUSR1 listener before it loads any larger module", async () => {
	const seen = new Map<string, number>();
	const follow = async (path: string): Promise<void> => {
		if (seen.has(path)) return;
		const text = await readFile(path, "utf8");
		seen.set(path, text.length);
		for (const [, name = ""] of text.matchAll(/^import (?:[^;"]* from )?"(\.[^"]+)";/gm)) {
			await follow(join(dirname(path), name));
		}
	};
	await follow(PROGRAM);
	// The answers that need no program, and the loader of the program: of these, V8 compiles what is called.
	expect([...seen.values()].reduce((sum, length) => sum + length, 0)).toBeLessThan(11_000);
	const entry = await readFile(new URL("../../bin/ragtag.ts", import.meta.url), "utf8");
	expect(entry.match(/^import .*$/gm)).toEqual(['import process from "node:process";']);
});
