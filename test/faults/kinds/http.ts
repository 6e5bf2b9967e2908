import { createServer } from "node:net";
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import { program } from "../../support/program.ts";
import { envOf } from "../../support/ragtag.ts";
import { folder, idOf, KEY } from "../../support/service.ts";
import { at, parseLines, range, summaryOf } from "../../support/values.ts";
import { asksFor, manifestOf, type Planned, planned, serviceOf, trial, uploaded, withoutKeyIn } from "../rig/trial.ts";
import { section } from "../table.ts";

/** One fault a row, from the second row on: the first goes alone, to see whether the service keeps what is written. */
export function rowByRow(faults: readonly Planned[], tries?: number): Planned[] {
	return faults.map((fault, index) => ({ ...fault, row: index + 2, ...(tries === undefined ? {} : { tries }) }));
}

/**
 * For counts of requests: row 1, which has no fault, is the first to be written then. Until it was seen to arrive, others
 * are sent in every form there is.
 */
export const IN_ORDER = ["--concurrency", "1"];

/** The rows of `rowByRow` as failed ones. */
export function failedWith(codes: readonly (string | RegExp)[]): Record<number, string | RegExp> {
	return Object.fromEntries(codes.map((code, index) => [index + 2, code]));
}

const statuses = (list: readonly number[]): Planned[] => list.map((status) => ({ fault: "status", status }));

/** A port to which no request may ever go. */
async function trap(host = "127.0.0.1"): Promise<{ readonly port: number; readonly knocks: () => number }> {
	let knocks = 0;
	const server = createServer((socket) => {
		knocks += 1;
		socket.destroy();
	}).listen(0, host);
	await once(server, "listening");
	onTestFinished(() => void server.close());
	return { port: Number(at(server.address(), "port")), knocks: () => knocks };
}

export const http = section("all", (test) => {
	test("H1 quick: a service that asks for a second is given a second by the whole run, and no row fails", async (flavour) => {
		const faults = [{ fault: "throttle", seconds: 1, row: 5, tries: 2 }];
		const { arrivals } = await trial(flavour, { faults, rows: 6, exit: 0, args: ["--concurrency", "1"] });
		const waited = arrivals.filter(({ status }) => status === 429);
		expect(waited).toHaveLength(2);
		for (const { time } of waited) {
			const early = arrivals.filter((other) => other.time > time && other.time < time + 1000);
			expect(early).toEqual([]);
		}
	});
	test("H2: a date in any of its three forms is waited for, and no row fails", async (flavour) => {
		const forms = ["date", "rfc850", "asctime"];
		const faults = rowByRow(
			forms.map((form) => ({ fault: "throttle", seconds: 2, form })),
			1,
		);
		const { arrivals } = await trial(flavour, { faults, rows: 4, exit: 0, args: ["--concurrency", "1"] });
		for (const { time } of arrivals.filter(({ status }) => status === 429)) {
			// A date has no fractions of a second.
			expect(arrivals.filter((other) => other.time > time && other.time < time + 900)).toEqual([]);
		}
	});
	test("H3: 429 without a time is tried again later, beyond --attempts if need be, and no row fails", async (flavour) => {
		const faults = rowByRow([{ fault: "throttle", form: "none" }], 3);
		await trial(flavour, { faults, rows: 5, exit: 0, args: ["--attempts", "2"] });
	});
	test("H4: an odd Retry-After costs no row and is never an endless wait", async (flavour) => {
		const texts = ["", "-1", "abc", "1.5", "1e3", "0x10", "0", "1, 2", "Wed, 21 Oct 2015 07:28:00 GMT"];
		const dates = ["wed, 21 oct 2015 07:28:00 gmt", "Wednesday, 21-Oct-15 07:28:00 GMT", "Wed Oct 21 07:28:00 2015"];
		const odd = [...texts, ...dates].map((text) => ({ fault: "throttle", text }));
		await trial(flavour, { faults: rowByRow(odd, 1), rows: 14, exit: 0 });
		const two = rowByRow([{ fault: "throttle", text: ["0", "1"] }], 1);
		const { arrivals } = await trial(flavour, { faults: two, rows: 5, exit: 0, args: ["--concurrency", "1"] });
		const [{ time } = { time: 0 }] = arrivals.filter(({ status }) => status === 429);
		// Of two, the longer one.
		expect(arrivals.filter((other) => other.time > time && other.time < time + 1000)).toEqual([]);
	});
	test("H4: a wait that is longer than --max-wait ends the run resumable, and names the time", async (flavour) => {
		for (const text of ["99999999999", "Thu, 31 Dec 2099 23:59:59 GMT"]) {
			const faults = [{ fault: "throttle", text, row: 5 }];
			const ended = await trial(flavour, { faults, exit: 6, args: ["--max-wait", "2s"] });
			expect(at(ended.summary, "failed")).toBe(0);
			expect(at(ended.summary, "pending")).toBeGreaterThan(0);
			expect(ended.stderr).toMatch(/longer than --max-wait 2s/);
		}
	});
	test("H5 quick: a 500, 502, 503 or 504, whether or not it was applied, costs no row", async (flavour) => {
		const each = statuses([500, 502, 503, 504]);
		const faults = rowByRow([...each, ...each.map((fault) => ({ ...fault, when: "before" as const }))], 2);
		const { summary } = await trial(flavour, { faults, exit: 0 });
		expect(at(summary, "attempts")).toBe(20 + 16);
	});
	test("H5: a row that meets nothing but 500 fails after --attempts, and alone", async (flavour) => {
		const faults = rowByRow(statuses([500, 502, 503, 504]));
		const failed = failedWith(["HTTP_500", "HTTP_502", "HTTP_503", "HTTP_504"]);
		const ended = await trial(flavour, { faults, exit: 1, failed, args: [...IN_ORDER, "--attempts", "3"] });
		expect(range(4, 2).map((row) => asksFor(ended, row))).toEqual([3, 3, 3, 3]);
	});
	test("H6: 408 and 425 are tried again and cost no row", async (flavour) => {
		await trial(flavour, { faults: rowByRow(statuses([408, 425]), 2), exit: 0 });
	});
	test("H7: 5xx that pass cost no row, and those that do not are not asked for again", async (flavour) => {
		const passing = [507, 508, 510, 520, 521, 522, 523, 524, 525, 526, 527, 599];
		await trial(flavour, { faults: rowByRow(statuses(passing), 1), exit: 0 });
		const final = rowByRow(statuses([505, 506, 511]));
		const failed = failedWith(["HTTP_505", "HTTP_506", "HTTP_511"]);
		const ended = await trial(flavour, { faults: final, exit: 1, failed, args: IN_ORDER });
		expect(range(3, 2).map((row) => asksFor(ended, row))).toEqual([1, 1, 1]);
	});
	test("H7 quick: 501 for one row fails that row alone", async (flavour) => {
		const ended = await trial(flavour, {
			faults: rowByRow(statuses([501])),
			exit: 1,
			failed: { 2: "HTTP_501" },
			args: IN_ORDER,
		});
		expect(asksFor(ended, 2)).toBeLessThan(6);
	});
	test("H8 quick: a refused row fails at once, alone, under its status", async (flavour) => {
		const refused = [400, 404, 410, 413, 414, 422, 451, 409];
		const failed = failedWith(["HTTP_400", "NOT_FOUND", ...refused.slice(2).map((status) => `HTTP_${status}`)]);
		const ended = await trial(flavour, { faults: rowByRow(statuses(refused)), exit: 1, failed, args: IN_ORDER });
		// A conflict may be gone a little later.
		expect(refused.map((_, index) => asksFor(ended, index + 2))).toEqual([1, 1, 1, 1, 1, 1, 1, 3]);
	});
	test("H8 quick: 405 or 415 for one row, which speak of another kind of server, fail that row alone", async (flavour) => {
		for (const status of [405, 415]) {
			await trial(flavour, { faults: rowByRow(statuses([status])), exit: 1, failed: { 2: `HTTP_${status}` } });
		}
	});
	test("H9 quick: a key that is refused at the first request ends the run before anything is written", async (flavour) => {
		for (const status of [401, 403]) {
			const faults = [{ fault: "status", status, when: "before" as const, on: {} }];
			// A refusal for lack of permission is that of a row, and the first one ends the run.
			const refused = status === 401 ? 0 : 1;
			const counts = { updated: 0, failed: refused, pending: 20 - refused };
			const { arrivals } = await trial(flavour, { faults, exit: 4, counts, args: ["--concurrency", "1"] });
			expect(arrivals.length).toBeLessThan(3);
		}
		// The service's own way to refuse a key that it does not know.
		const { dataset, control, state, env } = await planned(flavour);
		const key = `${KEY}9`;
		const argv = ["docs", "tag", await manifestOf(20, 1), "-d", dataset, "--json", "--state-dir", state, "--debug"];
		const ended = await program(argv, { ...env, RAGTAG_API_KEY: key });
		expect([ended.exit, control.counts().applied]).toEqual([4, 0]);
		expect(summaryOf(ended.stdout)).toMatchObject({ rows: 20, updated: 0, pending: 20 });
		await withoutKeyIn(ended, state, key);
	});
	test("H10 quick: a key that is revoked in the middle fails no row, and the run goes on with the next key", async (flavour) => {
		const { verb } = await serviceOf(flavour);
		const faults = [{ fault: "status", status: 401, when: "before" as const, on: { method: verb, from: 8 } }];
		// A key that was accepted is tried again, for two minutes unless the run waits less for anything.
		const args = ["--max-outage", "2s"];
		const { summary, state, service, stderr } = await trial(flavour, { faults, args, exit: 4 });
		expect(at(summary, "failed")).toBe(0);
		expect(stderr).toContain("is not accepted any more: it was accepted before, and was tried again for 2s");
		// The first row's answer is checked by a look at the list, which the key no longer opens.
		expect(at(summary, "pending")).toBeGreaterThanOrEqual(13);
		const again = await program(["runs", "resume", "--json", "--state-dir", state], envOf(service.sandbox));
		expect([again.exit, summaryOf(again.stdout)]).toEqual([
			0,
			expect.objectContaining({ rows: 20, updated: 20, pending: 0 }),
		]);
		await withoutKeyIn(again, state);
	});
	test("H11 quick: a redirect is never followed, wherever it leads, and takes neither key nor row with it", async (flavour) => {
		const { sandbox } = await serviceOf(flavour);
		const [port, host] = [await trap(), await trap("127.0.0.2")];
		const targets = [
			undefined,
			`${sandbox.url}/elsewhere`,
			`http://127.0.0.1:${port.port}/`,
			`http://127.0.0.2:${host.port}/`,
			null,
		];
		for (const [index, status] of [301, 302, 303, 307, 308].entries()) {
			const to = targets[index];
			const redirect = { fault: "redirect", status, when: "before" as const, ...(to === undefined ? {} : { to }) };
			const { stderr, summary } = await trial(flavour, { faults: [{ ...redirect, row: 4 }], exit: 4 });
			expect([at(summary, "failed"), stderr]).toEqual([0, expect.stringContaining("redirect")]);
		}
		expect([port.knocks(), host.knocks()]).toEqual([0, 0]);
	});
	test("H12: a 2xx without an envelope is no success: the row is sent again, and fails if that is all there is", async (flavour) => {
		const empty = [204, 205, 202, 206].map((status) => ({ fault: "empty", status, when: "before" as const }));
		await trial(flavour, { faults: rowByRow(empty, 1), exit: 0 });
		const failed = failedWith(empty.map(() => "BAD_ENVELOPE"));
		await trial(flavour, { faults: rowByRow(empty), exit: 1, failed, args: ["--attempts", "2"] });
	});
	test("H13: interim answers before an answer cost nothing, and one as the last is no success", async (flavour) => {
		await trial(flavour, { faults: [{ fault: "noise" }], exit: 0 });
		const faults = rowByRow([{ fault: "noise", statuses: [100] }, { fault: "last-interim" }], 1);
		await trial(flavour, { faults, exit: 0, args: ["--timeout", "2s"] });
		const ended = await trial(flavour, {
			faults: rowByRow([{ fault: "last-interim", when: "before" }]),
			exit: 1,
			counts: { failed: 1 },
			args: ["--attempts", "2", "--timeout", "1s"],
		});
		expect(ended.updated.has(idOf(2))).toBe(false);
	});
	test("H14 quick: a login page under 200 is no success: it ends a run that has seen no other answer, and later costs no row", async (flavour) => {
		const faults = [{ fault: "html", when: "before" as const, on: {} }];
		const { stderr } = await trial(flavour, { faults, exit: 6, counts: { pending: 20, failed: 0 } });
		expect(stderr).toContain("Sign in");
		const later = [{ fault: "html" }, { fault: "html", status: 502, title: "Bad Gateway" }];
		await trial(flavour, { faults: rowByRow(later, 1), exit: 0 });
	});
	test("H15: JSON is believed by what it says, not by its Content-Type", async (flavour) => {
		const faults = [
			{ fault: "content-type", row: 2 },
			{ fault: "content-type", type: null, row: 3 },
		];
		await trial(flavour, { faults, exit: 0 });
	});
	for (const [id, fault, kind] of [
		["H16", "cut-body", "a body shorter than its Content-Length is no success, wherever it is cut"],
		["H17", "cut-chunked", "a chunked body without its end is no success, wherever it is cut"],
		["H18 quick", "cut-unframed", "a body that ends too early, and looks complete to any client, is no success"],
	] as const) {
		test(`${id}: ${kind}`, async (flavour) => {
			// The whole answer of some releases has ten bytes.
			const places = range(flavour === "documented" ? 22 : 9);
			const cuts = [...places, -1, -2].map((place, index) => ({
				fault,
				at: place,
				when: "before" as const,
				...(fault === "cut-unframed" || index % 2 === 0 ? {} : { how: "rst" }),
				// Every other row alone: twenty failures in a row would be an outage.
				row: 2 * index + 2,
				tries: 1,
			}));
			await trial(flavour, { faults: cuts, rows: 50, exit: 0 });
		});
	}
	test("H19: an answer whose lengths contradict each other is no success", async (flavour) => {
		const faults = rowByRow(
			[
				{ fault: "wrong-length", by: 10 },
				{ fault: "wrong-length", by: -10 },
				{ fault: "two-lengths" },
				{ fault: "length-and-chunked" },
				{ fault: "bad-chunk" },
			].map((fault) => ({ ...fault, when: "before" as const })),
			1,
		);
		await trial(flavour, { faults, exit: 0, args: ["--timeout", "3s"] });
	});
	test("H20: bytes that are no HTTP are no success: they cost no row, and from the start they end the run", async (flavour) => {
		const noise = ["bytes", "ssh", "tls"].map((what) => ({ fault: "garbage", what, when: "before" as const }));
		await trial(flavour, { faults: rowByRow(noise, 1), exit: 0 });
		for (const fault of noise) {
			const options = { faults: [{ ...fault, on: {} }], exit: 6, counts: { updated: 0, failed: 0, pending: 20 } };
			await trial(flavour, { ...options, args: ["--max-outage", "1s"] });
		}
	});
	test("H21: headers that are too big, too many or hold NUL fail no row for good, and no run", async (flavour) => {
		const odd = [{ fault: "big-header" }, { fault: "many-headers" }, { fault: "nul-header" }];
		await trial(flavour, { faults: rowByRow(odd, 1), exit: 0 });
		const ended = await trial(flavour, {
			faults: rowByRow([{ fault: "big-header" }, { fault: "nul-header" }]),
			exit: 1,
			failed: failedWith(["BAD_HTTP", "BAD_HTTP"]),
			args: ["--attempts", "2"],
		});
		expect(ended.updated.size).toBe(18);
	});
	test("H22: a body without end, or of two gigabytes, is given up and costs no row", async (flavour) => {
		const endless = ["close", "chunked", "length"].map((framing) => ({ fault: "endless", framing }));
		const faults = rowByRow([...endless, { fault: "huge-length" }], 1);
		await trial(flavour, { faults, exit: 0, args: ["--timeout", "2s"] });
	});
	test("H23: an encoding that was not asked for is no success, and a bomb does not go off", async (flavour) => {
		const hows = ["gzip", "deflate", "br", "bad", "cut", "bomb", "twice", "unknown"];
		const faults = rowByRow(
			hows.map((how) => ({ fault: "encoded", how, when: "before" as const })),
			1,
		);
		await trial(flavour, { faults, exit: 0, env: { NODE_OPTIONS: "--max-old-space-size=120" } });
	});
	test("H24: bytes behind an answer are never taken for the answer to the next row", async (flavour) => {
		const faults = [
			{ fault: "extra", on: { path: "/documents/", every: 3 } },
			{ fault: "extra", text: "garbage", on: { path: "/documents/", every: 4 } },
		];
		await trial(flavour, { faults, rows: 30, exit: 0 });
	});
	test("H25: an answer to another client's request is never taken for a success", async (flavour) => {
		const once = [
			{ fault: "shifted", row: 9, tries: 1, ...(flavour === "documented" ? { when: "before" as const } : {}) },
		];
		await trial(flavour, { faults: once, exit: 0 });
	});
	test("H25 documented quick: an intermediary that mixes all answers up ends the run, and no row counts that was not written", async (flavour) => {
		const faults = [{ fault: "shifted", when: "before" as const, on: { method: "PUT", from: 5 } }];
		const { stderr, summary } = await trial(flavour, { faults, exit: 6, args: ["--concurrency", "1"] });
		expect([at(summary, "failed"), stderr]).toEqual([0, expect.stringContaining("may mix up answers")]);
	});
	test("H26: a 413 in the middle of an upload fails that file alone, and no file is stored twice", async (flavour) => {
		const at413 = await folder();
		const names = range(4).map((n) => join(at413, `upload-${flavour}-${n}.txt`));
		for (const [n, name] of names.entries()) await writeFile(name, Buffer.alloc(n === 1 ? 8_000_000 : 1_000, "x"));
		const faults = [{ fault: "early-answer", on: { method: "POST", nth: 2 } }];
		const { exit, stdout, summary, stored, fired } = await uploaded(flavour, names, faults);
		expect([exit, summary]).toEqual([1, expect.objectContaining({ rows: 4, uploaded: 3, failed: 1 })]);
		expect([stored.length, fired]).toEqual([3, [1]]);
		const codes = parseLines(stdout).flatMap((line) => at(line, "error_code") ?? []);
		expect(["HTTP_413", "UNKNOWN_OUTCOME"]).toEqual(expect.arrayContaining(codes));
	});
	test("H27: a server that closes after each answer costs no row", async (flavour) => {
		await trial(flavour, { faults: [{ fault: "connection-close", on: {} }], rows: 50, exit: 0 });
	});
	test("H28: a server of HTTP/1.0 costs no row", async (flavour) => {
		await trial(flavour, { faults: [{ fault: "http-1.0", on: {} }], rows: 50, exit: 0 });
	});
	test("H29: a byte-order mark is read past; other text than UTF-8 is no success", async (flavour) => {
		await trial(flavour, { faults: [{ fault: "bom" }], exit: 0 });
		const odd = [{ fault: "utf-16" }, { fault: "bad-utf-8" }];
		await trial(flavour, { faults: rowByRow(odd, 1), exit: 0 });
		const failed = failedWith(["BAD_ENVELOPE", "BAD_ENVELOPE"]);
		await trial(flavour, { faults: rowByRow(odd), exit: 1, failed, args: ["--attempts", "2"] });
	});
	test("H30 quick: what a server says can't move the cursor, hide text or give the key back", async (flavour) => {
		const odd = ["message", "reason", "header"].map((where) => ({ fault: "control-text", in: where, status: 400 }));
		const echoes = ["message", "location", "html", "header", "reason"].map((where) => ({
			fault: "echo-key",
			in: where,
		}));
		const faults = rowByRow([...odd, ...echoes.filter((echo) => echo.in !== "location")]);
		const ended = await trial(flavour, {
			faults,
			exit: 1,
			counts: { failed: faults.length },
			args: ["--attempts", "1", "--debug"],
		});
		const shown = (ended.stderr + ended.stdout).replaceAll("\n", "");
		expect(shown).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
	});
});
