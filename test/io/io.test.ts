import { spawn } from "node:child_process";
import { openSync, closeSync } from "node:fs";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { hasColor } from "../../src/io/terminal.ts";
import { at } from "../support/values.ts";
import { input, ioOn, Kept, Terminal } from "./terminal.ts";

/** A stream whose writes fail with that code. */
function failing(code: string): Writable {
	return new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) });
}

describe("results on standard output", () => {
	it("wait for a slow reader", async () => {
		let release = (): void => undefined;
		const stdout = new Writable({ highWaterMark: 4, write: (_chunk, _encoding, done) => void (release = done) });
		const { io } = ioOn({ stdout });
		let written = false;
		const writing = io.out("much longer than four\n").then(() => (written = true));
		await new Promise((resolve) => setImmediate(resolve));
		expect(written).toBe(false);
		release();
		await writing;
		expect(written).toBe(true);
	});

	it("a closed pipe is no failure, and nothing is said of it", async () => {
		const { io, stderr } = ioOn({ stdout: failing("EPIPE") });
		for (const text of ["one\n", "two\n", "three\n"]) await io.out(text);
		await io.flush();
		expect(io.stdoutClosed).toBe(true);
		expect(io.outputFailure).toBeUndefined();
		expect(stderr.text).toBe("");
	});

	it("a write that fails is remembered for the exit code", async () => {
		const { io } = ioOn({ stdout: failing("ENOSPC") });
		await io.out("one\n");
		await io.flush();
		expect(io.outputFailure).toMatch(/^standard output could not be written: /);
		expect(io.stdoutClosed).toBe(false);
	});

	it.skipIf(process.platform !== "linux")("a full disk is noticed if Node reports nothing", async () => {
		const fd = openSync("/dev/full", "w");
		const { io } = ioOn({ stdout: Object.assign(new Kept(), { fd }) });
		await io.out("one\n");
		closeSync(fd);
		expect(io.outputFailure).toMatch(/^standard output could not be written: /);
	});

	it("flush waits until all is written", async () => {
		const chunks: string[] = [];
		const stdout = new Writable({
			write: (chunk: Buffer, _encoding, done) => {
				setImmediate(() => {
					chunks.push(chunk.toString());
					done();
				});
			},
		});
		const { io } = ioOn({ stdout });
		void io.out("a");
		void io.out("b");
		await io.flush();
		expect(chunks.join("")).toBe("ab");
	});

	it("a closed pipe of a real process ends nothing", async () => {
		const child = spawn("sh", ["-c", "exec 0<&-; exit 0"], { stdio: ["pipe", "ignore", "ignore"] });
		await new Promise((resolve) => child.once("exit", resolve));
		const { io } = ioOn({ stdout: child.stdin });
		await io.out("x".repeat(1_000_000));
		await io.out("y");
		await io.flush();
		expect(io.stdoutClosed).toBe(true);
	});
});

describe("standard error", () => {
	it("--quiet prints only errors, and --debug is off by default", async () => {
		const { io, stderr } = ioOn();
		io.debug("unseen");
		io.note("seen");
		await io.configure({ quiet: true, debug: true });
		io.note("unseen");
		io.err("error");
		io.debug("detail");
		expect(stderr.text).toBe("seen\nerror\ndetail\n");
	});

	it("the key is never printed", async () => {
		const { io, stdout, stderr } = ioOn();
		await io.configure({ debug: true });
		io.hide("canary");
		await io.out("canary\n");
		for (const print of [io.err, io.note, io.debug]) print("a canary");
		expect(stdout.text).toBe("***\n");
		expect(stderr.text).toBe("a ***\na ***\na ***\n");
	});
});

describe("colour", () => {
	it.each([
		[{}, true, true, true],
		[{}, false, true, false],
		[{}, true, false, false],
		[{ NO_COLOR: "1" }, true, true, false],
		[{ NO_COLOR: "" }, true, true, true],
		[{ NO_COLOR: "1", FORCE_COLOR: "1" }, true, true, false],
		[{ FORCE_COLOR: "1" }, false, true, true],
		[{ FORCE_COLOR: "0" }, true, true, false],
		[{ FORCE_COLOR: "1" }, true, false, false],
		[{ TERM: "dumb" }, true, true, false],
	])("%j, terminal %s, wanted %s: %s", (env, terminal, wanted, expected) => {
		expect(hasColor({ env, terminal, wanted })).toBe(expected);
	});

	it("is decided for each stream: a file has none even if the terminal has", async () => {
		const { io } = ioOn({}, new Terminal());
		await io.configure({});
		expect(io.style.red("x")).toBe("x");
		expect(io.errStyle.red("x")).toBe("\u001B[31mx\u001B[39m");
	});
});

describe("a question", () => {
	it("is answered by one line of a person", async () => {
		const { io, stderr } = ioOn({ stdin: input("yes\nno\n", true) });
		expect(await io.ask("Sure?")).toBe("yes");
		expect(stderr.text).toBe("Sure? ");
	});

	it("of several lines is a message for each beside JSON: a message is one line", async () => {
		const { io, stderr } = ioOn({ stdin: input("yes\n", true) });
		await io.configure({ progress: "json" });
		await io.ask("Remove 1 document?\n  a.pdf\nSure?");
		const texts = stderr.text
			.trimEnd()
			.split("\n")
			.map((line) => at(JSON.parse(line), "text"));
		expect(texts).toEqual(["Remove 1 document?", "  a.pdf", "Sure?"]);
	});

	it("is not answered by a file", async () => {
		await expect(ioOn({ stdin: input("yes\n") }).io.ask("Sure?")).rejects.toMatchObject({ exit: 2 });
	});

	it("at the end of input has an empty answer", async () => {
		expect(await ioOn({ stdin: input("", true) }).io.ask("Sure?")).toBe("");
	});

	it("ends with Ctrl-C, which ends standard input", async () => {
		const stdin = Object.assign(new PassThrough(), { isTTY: true });
		const answer = expect(ioOn({ stdin }).io.ask("Sure?")).rejects.toThrow("stopped");
		setImmediate(() => stdin.destroy(new Error("stopped")));
		await answer;
	});
});

describe("text of others in the log of a CI runner", () => {
	const actions = { GITHUB_ACTIONS: "true" };
	const names = [
		["##[set-output name=x]owned", String.raw`#\x23[set-output name=x]owned`],
		["a ##[add-mask]e ##[add-mask]f", String.raw`a #\x23[add-mask]e #\x23[add-mask]f`],
		["::error::owned", String.raw`\x3a:error::owned`],
		[" \u2003::stop-commands::x", String.raw` \u2003\x3a:stop-commands::x`.replaceAll(String.raw`\u2003`, "\u2003")],
		["std::vector", "std::vector"],
	] as const;

	it.each(names)("%j is no command of GitHub's runner in what people read", async (name, shown) => {
		const { io, stdout, stderr } = ioOn({ env: actions });
		io.err(name);
		io.note(name);
		await io.print(`${name}\nnext\n${name}\n`);
		await io.flush();
		expect([stdout.text, stderr.text]).toEqual([`${shown}\nnext\n${shown}\n`, `${shown}\n${shown}\n`]);
	});

	it.each(names)("%j stays as it is in data, in the program's annotations, and outside of GitHub", async (name) => {
		const { io, stdout, stderr } = ioOn({ env: actions });
		await io.out(`${name}\n`);
		io.annotation(name);
		expect([stdout.text, stderr.text]).toEqual([`${name}\n`, `${name}\n`]);
		const outside = ioOn({ env: {} });
		await outside.io.print(`${name}\n`);
		outside.io.err(name);
		expect([outside.stdout.text, outside.stderr.text]).toEqual([`${name}\n`, `${name}\n`]);
	});

	it("a line end in a message begins no line, so no name forges a line of the log", async () => {
		const { io, stderr } = ioOn();
		io.err("bad\n::error::own.csv:1:1: no rows");
		io.note("a\r\nb");
		expect(stderr.text).toBe(String.raw`bad\x0a::error::own.csv:1:1: no rows` + "\n" + String.raw`a\x0d\x0ab` + "\n");
	});
});
