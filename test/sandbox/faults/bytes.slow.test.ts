import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { PlannedFault } from "../../../src/sandbox/faults/plan.ts";
import type { Sandbox } from "../../../src/sandbox/index.ts";
import { expectFired } from "../../support/faults.ts";
import * as by from "../support.ts";
import { exchange, updateText, type Wire, type Waiting } from "./wire.ts";
import { idOf } from "../../support/service.ts";

const id = idOf(10);
const good = `{"code":0,"message":"Success","data":{"document_id":"${id}"}}`;

/** The bytes that one update receives over a connection of its own, with keep-alive. */
async function faultyUpdate(fault: PlannedFault, waiting: Waiting = {}): Promise<Wire & { readonly sandbox: Sandbox }> {
	const sandbox = await by.start({ documents: 20, control: true, key: "sandbox-Kanarienvogel" });
	await exchange(sandbox.port, updateText(sandbox, idOf(11)), { until: (text) => text.endsWith("}}") });
	sandbox.control?.setPlan({ faults: [fault] });
	const wire = await exchange(sandbox.port, updateText(sandbox, id), waiting);
	expectFired(sandbox);
	return { ...wire, sandbox };
}

function bodyOf({ bytes }: Wire): Buffer {
	return bytes.subarray(bytes.indexOf("\r\n\r\n") + 4);
}

const ok = /^HTTP\/1\.1 200 OK\r\n/;

describe("each fault sends the bytes that its name promises", () => {
	const table: readonly (readonly [PlannedFault, Wire["end"], string | RegExp])[] = [
		[{ fault: "reset" }, "rst", /^$/],
		[{ fault: "close" }, "fin", /^$/],
		[{ fault: "silence" }, "open", /^$/],
		[{ fault: "no-read" }, "open", /^$/],
		[{ fault: "early-answer" }, "rst", /^HTTP\/1\.1 413 /],
		[{ fault: "stall" }, "open", /content-length: 88\r\n.*\r\n\r\n$/s],
		[{ fault: "stall", at: 5 }, "open", /\r\n\r\n\{"cod$/],
		[{ fault: "stale-connection" }, "fin", /connection: keep-alive\r\n\r\n\{.*\}\}$/s],
		[{ fault: "stale-connection", how: "rst" }, "rst", /connection: keep-alive\r\n\r\n\{.*\}\}$/s],
		[{ fault: "outage", milliseconds: 10 }, "fin", /^$/],
		[{ fault: "cut", at: 0 }, "fin", /^$/],
		[{ fault: "cut", at: 20 }, "fin", /^HTTP\/1\.1 200 OK\r\ncon$/],
		[{ fault: "cut", at: 20, how: "rst" }, "rst", /^HTTP\/1\.1 200 OK\r\ncon$/],
		[{ fault: "cut-body", at: 9 }, "fin", /content-length: 88\r\n.*\r\n\r\n\{"code":0$/s],
		[{ fault: "cut-chunked", at: 9 }, "fin", /transfer-encoding: chunked\r\n.*\r\n\r\n9\r\n\{"code":0\r\n$/s],
		[{ fault: "cut-unframed", at: 9 }, "fin", /^(?!.*content-length).*connection: close\r\n\r\n\{"code":0$/s],
		[{ fault: "delay", milliseconds: 20 }, "open", good],
		[{ fault: "late", milliseconds: 20 }, "open", good],
		[{ fault: "drip", milliseconds: 1, bytes: 30 }, "open", good],
		[{ fault: "bandwidth", bytes: 50_000 }, "open", good],
		[{ fault: "slice" }, "open", good],
		[{ fault: "wrong-length", by: 7 }, "fin", /content-length: 95\r\n/],
		[{ fault: "wrong-length", by: -7 }, "fin", /content-length: 81\r\n/],
		[{ fault: "two-lengths", by: 1 }, "open", /content-length: 88\r\ncontent-length: 89\r\n/],
		[
			{ fault: "length-and-chunked" },
			"open",
			/content-length: 88\r\ntransfer-encoding: chunked\r\n.*58\r\n\{.*\}\r\n0\r\n\r\n$/s,
		],
		[{ fault: "bad-chunk" }, "fin", /\r\n\r\nzz\r\n\{/],
		[{ fault: "chunked" }, "open", /transfer-encoding: chunked\r\n.*\r\n0\r\n\r\n$/s],
		[{ fault: "unframed" }, "fin", good],
		[{ fault: "connection-close" }, "fin", /connection: close\r\n/],
		[{ fault: "http-1.0" }, "fin", /^HTTP\/1\.0 200 OK/],
		[{ fault: "extra", text: "MORE" }, "open", `${good}MORE`],
		[
			{ fault: "noise", statuses: [102, 103, 100] },
			"open",
			/^HTTP\/1\.1 102 .*HTTP\/1\.1 103 .*HTTP\/1\.1 100 .*200 OK/s,
		],
		[{ fault: "shifted" }, "open", `"document_id":"${idOf(11)}"`],
		[
			{ fault: "status", status: 503, headers: { "X-A": ["1", "2"] } },
			"open",
			/^HTTP\/1\.1 503 .*x-a: 1\r\nx-a: 2\r\n.*"code":503/s,
		],
		[{ fault: "status", status: 502, body: "<p>" }, "open", /^HTTP\/1\.1 502 Bad Gateway.*<p>$/s],
		[{ fault: "status-only", status: 500 }, "open", /^HTTP\/1\.1 500 .*"code":0/s],
		[{ fault: "throttle", seconds: 7 }, "open", /^HTTP\/1\.1 429 .*retry-after: 7\r\n/s],
		[{ fault: "throttle", form: "none" }, "open", /^(?!.*retry-after)HTTP\/1\.1 429 /s],
		[{ fault: "throttle", form: "date" }, "open", /retry-after: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/],
		[{ fault: "throttle", form: "rfc850" }, "open", /retry-after: \w+day, \d\d-\w{3}-\d\d \d\d:\d\d:\d\d GMT\r\n/],
		[{ fault: "throttle", form: "asctime" }, "open", /retry-after: \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\r\n/],
		[{ fault: "throttle", text: ["1", "-1"] }, "open", /retry-after: 1\r\nretry-after: -1\r\n/],
		[
			{ fault: "redirect", status: 307, to: "http://127.0.0.2/x" },
			"open",
			/^HTTP\/1\.1 307 .*location: http:\/\/127\.0\.0\.2\/x\r\n/s,
		],
		[{ fault: "redirect" }, "open", new RegExp(`location: /api/v1/datasets/.*${id}\r\n`)],
		[{ fault: "redirect", to: null }, "open", /^(?!.*location)HTTP\/1\.1 302 /s],
		[{ fault: "empty" }, "open", /^HTTP\/1\.1 204 (?!.*content-length).*\r\n\r\n$/s],
		[{ fault: "empty", status: 202 }, "open", /^HTTP\/1\.1 202 .*content-length: 0\r\n.*\r\n\r\n$/s],
		[{ fault: "last-interim" }, "fin", /^HTTP\/1\.1 109 Interim\r\n/],
		[{ fault: "html" }, "open", /text\/html.*<title>Sign in<\/title>/s],
		[{ fault: "garbage", what: "ssh" }, "fin", /^SSH-2\.0-/],
		[{ fault: "huge-length" }, "open", /content-length: 2147483648\r\n/],
		[{ fault: "content-type", type: null }, "open", /^(?!.*content-type)/s],
		[{ fault: "content-type" }, "open", /content-type: text\/plain\r\n/],
		[{ fault: "bom" }, "open", `\ufeff${good}`],
		[{ fault: "body", text: "null" }, "open", /content-length: 4\r\n.*\r\n\r\nnull$/s],
		[{ fault: "big-header", bytes: 100_000 }, "open", new RegExp(`x-big: b{100000}\r\n`)],
		[{ fault: "many-headers", count: 3000 }, "open", /x-2999: 2999\r\n/],
		[{ fault: "nul-header" }, "open", "x-nul: a\u0000b\r\n"],
		[{ fault: "control-text" }, "open", /"code":102,"message":"\\u001b\[31mred/],
		[{ fault: "control-text", in: "reason" }, "open", "HTTP/1.1 200 \u001b[31mred\u001b]0;title"],
		[{ fault: "control-text", in: "header" }, "open", "x-control: \u001b[31mred"],
		...["message", "header", "html", "reason"].map(
			(place) => [{ fault: "echo-key", in: place }, "open", "Bearer sandbox-Kanarienvogel"] as const,
		),
		[{ fault: "echo-key", in: "location" }, "open", /location: \S*Bearer%20sandbox-Kanarienvogel\r\n/],
		[{ fault: "code", code: 105, data: {} }, "open", /"code":105,"message":".*","data":\{\}\}$/],
		[{ fault: "code", raw: "1e-400" }, "open", '{"code":1e-400,'],
		[{ fault: "no-code" }, "open", /\r\n\r\n\{"message":"Success","data"/],
		[{ fault: "no-data" }, "open", /\r\n\r\n\{"code":0,"message":"Success"\}$/],
		[{ fault: "two-codes" }, "open", /\{"code":102,"code":0,"message"/],
		[{ fault: "message", value: { a: 1 } }, "open", '"message":{"a":1}'],
		[{ fault: "document-id" }, "open", `"document_id":"${"f".repeat(32)}"`],
		[{ fault: "document-id", how: "missing" }, "open", /"data":\{\}\}$/],
		[{ fault: "document-id", how: "case" }, "open", `"document_id":"${id.toUpperCase()}"`],
		[{ fault: "deep", depth: 1000 }, "open", `"data":${"[".repeat(1000)}${"]".repeat(1000)}}`],
		[{ fault: "lie" }, "open", good],
	];
	test.each(table)("%j ends with %s", async (fault, end, text) => {
		const wire = await faultyUpdate(fault);
		if (typeof text === "string") expect(wire.text).toContain(text);
		else expect(wire.text).toMatch(text);
		expect(wire.end).toBe(end);
		if (end === "open" && wire.text.startsWith("HTTP") && !["stall", "huge-length"].includes(fault.fault))
			expect(wire.text).toMatch(/connection: keep-alive\r\n/);
	});
});

describe("bytes that are not text", () => {
	test("TLS alerts, UTF-16, bytes that are not UTF-8, and compressed bodies match their names", async () => {
		expect((await faultyUpdate({ fault: "garbage", what: "tls" })).bytes.toString("hex")).toBe("1503030002020a");
		expect(bodyOf(await faultyUpdate({ fault: "utf-16" })).toString("utf16le")).toBe(`\ufeff${good}`);
		expect(bodyOf(await faultyUpdate({ fault: "bad-utf-8" })).toString("latin1")).toContain("\u00ff\u00c3");
		expect(gunzipSync(bodyOf(await faultyUpdate({ fault: "encoded", how: "gzip" }))).toString()).toBe(good);
		const bomb = gunzipSync(bodyOf(await faultyUpdate({ fault: "encoded", how: "bomb", megabytes: 3 })));
		expect([bomb.length > 3_000_000, bomb.toString().trim()]).toEqual([true, good]);
		for (const how of ["bad", "cut"]) {
			const broken = bodyOf(await faultyUpdate({ fault: "encoded", how }));
			expect(() => gunzipSync(broken)).toThrow();
		}
	});

	test("in each framing, an endless body continues until the client closes the connection", async () => {
		for (const framing of ["close", "chunked", "length"]) {
			const enough = { until: (text: string) => text.length > 500_000 };
			const wire = await faultyUpdate({ fault: "endless", framing }, enough);
			expect([wire.end, wire.text.length > 500_000]).toEqual(["open", true]);
			await expect.poll(() => wire.sandbox.control?.ledger().at(-1)).toMatchObject({ fault: { name: "endless" } });
		}
	});
});

describe("a connection that a fault leaves open", () => {
	test("serves the next request without a second fault", async () => {
		const sandbox = await by.start({
			documents: 20,
			faults: { faults: [{ fault: "extra", text: " ", on: { nth: 1 } }] },
		});
		const both = updateText(sandbox, id) + updateText(sandbox, idOf(12));
		const { text } = await exchange(sandbox.port, both);
		expect(text.match(ok)).not.toBeNull();
		expect(text.split("HTTP/1.1 200 OK")).toHaveLength(3);
		expect(text).toContain(idOf(12));
	});

	test("is refused during an outage, and accepted on the same port afterwards", async () => {
		const faults = { faults: [{ fault: "outage", milliseconds: 300, on: { method: "PUT", nth: 1 } }] };
		const sandbox = await by.start({ documents: 20, faults });
		await exchange(sandbox.port, updateText(sandbox, id));
		const refused = await by
			.put(sandbox, sandbox.datasetId ?? "", id, "{}")
			.catch((error: unknown) => by.at(error, "code"));
		expect(refused).toBe("ECONNREFUSED");
		const again = (): Promise<unknown> => by.put(sandbox, sandbox.datasetId ?? "", id, "{}").catch(() => undefined);
		await expect.poll(again).toMatchObject({ status: 200, code: 0 });
		expectFired(sandbox);
	});
});
