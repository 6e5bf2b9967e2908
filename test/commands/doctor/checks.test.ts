import { describe, expect, it } from "vitest";
import {
	ageText,
	clockCheck,
	flavourCheck,
	latencyCheck,
	latencyOf,
	rateCheck,
	refusalChecks,
} from "../../../src/commands/doctor/service.ts";
import { firstDataset, rightCheck } from "../../../src/commands/doctor/dataset.ts";
import { decisiveFailure, nextCommand } from "../../../src/commands/doctor/checks.ts";
import { handshakeCheck, lookUpCheck, plainCheck, proxyCheck } from "../../../src/commands/doctor/local.ts";
import { CliError, Exit } from "../../../src/errors.ts";
import type { Check } from "../../../src/report/checks.ts";
import { RestError, type RestErrorKind } from "../../../src/rest/errors.ts";
import { documented, flavourNamed } from "../../../src/rest/flavours.ts";
import type { Recognition } from "../../../src/run/service/service-memory.ts";
import { safeRate } from "../../../src/rates.ts";
import { ragflowPut } from "../../support/flavours.ts";

const DAY = 86_400_000;

it.each([
	[0, 100],
	[5, 100],
	[640, 100],
	[641, 99],
	[1_000, 64],
	[2_000, 32],
	[64_000, 1],
	[200_000, 1],
])("at %i ms an answer, %i requests a second are safe", (latency, rate) => {
	expect(safeRate(latency)).toBe(rate);
});

describe("a requested rate that is too high is reported", () => {
	it.each([
		[undefined, "ok"],
		[{ value: 64, origin: "--rate" }, "ok"],
		[{ value: 65, origin: "profile p" }, "warning"],
		[{ value: "unlimited", origin: "--rate" }, "warning"],
	] as const)("%j at one second an answer: %s", (wanted, status) => {
		const check = rateCheck(1_000, wanted, undefined);
		expect(check.status).toBe(status);
		if (wanted !== undefined && status === "warning") expect(check.text).toContain(wanted.origin);
	});

	it("the capacity of two cores is mentioned only for RAGFlow", () => {
		expect(rateCheck(5, undefined, ragflowPut.knownSpeed).text).toContain("100 to 200 updates a second");
		expect(rateCheck(5, undefined, documented.knownSpeed).text).not.toContain("RAGFlow");
	});
});

it("one slow answer does not change the measured latency", () => {
	expect(latencyOf([5, 900, 4, 6, 5])).toEqual({ median: 5, slowest: 900 });
	expect(latencyCheck([5, 900, 4, 6, 5]).text).toContain("median 5.0 ms, slowest 900 ms of 5");
});

describe("a wrong clock is reported", () => {
	const now = Date.UTC(2025, 0, 1, 12);
	it.each([
		[0, "ok", "agrees"],
		[2_400, "ok", "agrees"],
		[-59_000, "ok", "59 s ahead of"],
		[60_000, "ok", "60 s behind"],
		[61_000, "warning", "61 s behind"],
		[-3_600_000, "warning", "3600 s ahead of"],
	])("the service is %i ms ahead: %s", (ahead, status, words) => {
		const check = clockCheck(new Date(now + ahead).toUTCString(), now);
		expect(check.status).toBe(status);
		expect(check.text).toContain(words);
	});

	it.each([undefined, "", "soon"])("a Date of %j is ignored", (date) => {
		expect(clockCheck(date, now).status).toBe("skipped");
	});
});

describe("what a refused first request means", () => {
	const refusal = (kind: RestErrorKind, code: string, exit: 1 | 4 | 6): readonly Check[] => {
		const cause = new RestError("h answered", { kind, code });
		return refusalChecks(new CliError("h answered", { exit, hint: "Try.", cause }), "h");
	};
	it.each<[RestErrorKind, string, 1 | 4 | 6, string, number, string]>([
		["untrusted", "KEY_REJECTED", 4, "key", 4, "--api-key-file"],
		["untrusted", "REDIRECT", 4, "service", 4, "--base-url"],
		["untrusted", "TLS_UNTRUSTED", 4, "service", 4, "--ca-file"],
		["untrusted", "PROXY", 4, "service", 4, "doctor"],
		["not_the_api", "NOT_THE_API", 6, "service", 6, "--base-url"],
		["rejected", "NOT_FOUND", 1, "service", 6, "--base-url"],
		["contradiction", "HTTP_405", 1, "service", 6, "--base-url"],
		["ambiguous", "BAD_ENVELOPE", 6, "service", 6, "--base-url"],
		["ambiguous", "HTTP_502", 6, "service", 6, "doctor"],
		["not_sent", "CONNECTION_REFUSED", 6, "service", 6, "doctor"],
		["rejected", "FORBIDDEN", 1, "service", 1, "doctor"],
	])("%s %s with exit %i: %s fails, exit %i", (kind, code, exit, name, expected, next) => {
		const failure = refusal(kind, code, exit).find(({ status }) => status === "failed");
		expect(failure).toMatchObject({ name, exit: expected, next: expect.stringContaining(next) });
		expect(failure?.hint).toBeTruthy();
	});
});

describe("a certificate", () => {
	const shown = (days: number): Check =>
		handshakeCheck(
			"https://h/api/v1",
			{ value: { protocol: "TLSv1.3", issuer: "CA\u001b[2J", expires: days * DAY } },
			0,
		);
	it("that ends within two weeks is a warning, with the days left", () => {
		expect([shown(14).status, shown(13.9).status]).toEqual(["ok", "warning"]);
		expect(shown(1.5).text).toContain("1 day");
		expect(shown(90).text).not.toContain("\u001b");
	});

	it.each([
		["untrusted", "TLS_EXPIRED", Exit.untrusted, "clock"],
		["untrusted", "TLS_OTHER_HOST", Exit.untrusted, "host name"],
		["untrusted", "TLS_UNTRUSTED", Exit.untrusted, "authority"],
		["not_the_api", "NOT_TLS", Exit.temporary, "http://"],
		["not_sent", "CONNECTION_REFUSED", Exit.temporary, "is up"],
	] as const)("that is %s by %s is exit %i, and the hint fits", (kind, code, exit, word) => {
		const check = handshakeCheck("https://h", { failure: { kind, code, message: "h: no" } }, 0);
		expect(check).toMatchObject({ name: "tls", status: "failed", exit, hint: expect.stringContaining(word) });
	});

	it("plain http is a warning, but not on this machine itself", () => {
		expect(plainCheck({ isLoopback: false }).status).toBe("warning");
		expect(plainCheck({ isLoopback: true }).status).toBe("skipped");
	});
});

it("with a proxy, the proxy's name is resolved", () => {
	const proxy = {
		kind: "proxy",
		variable: "HTTPS_PROXY",
		address: "p:1",
		host: { name: "p", isLiteral: false },
	} as const;
	expect(lookUpCheck("p", { value: ["10.0.0.1"] }, proxy).text).toContain("by the proxy");
	const failure = { kind: "not_sent", code: "HOST_NOT_FOUND", cause: "ENOTFOUND", message: "p: no such host" } as const;
	expect(lookUpCheck("p", { failure }, proxy)).toMatchObject({ exit: 6, hint: expect.stringContaining("HTTPS_PROXY") });
	expect(proxyCheck(proxy).text).toContain("p:1 (HTTPS_PROXY)");
	const direct = (["loopback", "exempt", "unset"] as const).map(
		(why) => proxyCheck({ kind: "direct", why, variable: why === "exempt" ? "no_proxy" : undefined }).text,
	);
	expect(direct).toEqual([
		expect.stringContaining("a loopback address"),
		expect.stringContaining("no_proxy"),
		expect.stringContaining("no variable"),
	]);
});

describe("the flavour", () => {
	const found: Recognition = {
		flavour: flavourNamed("ragflow-put") ?? documented,
		form: "json",
		how: "it said so",
		foundAt: 3 * DAY,
		origin: "found",
		proven: undefined,
	};
	it("is reported with how it was recognised, and what is not proven", () => {
		const check = flavourCheck(found, undefined, { flavour: undefined, body: undefined });
		expect(check.status).toBe("ok");
		for (const part of [
			"RAGFlow v0.17 to v0.24",
			"ragflow-put",
			"it said so",
			"application/json",
			"no write has confirmed",
		]) {
			expect(check.text).toContain(part);
		}
		expect(flavourCheck({ ...found, proven: "id" }, found, { flavour: undefined, body: undefined }).text).toContain(
			"a write that was read back confirmed this",
		);
	});

	it.each([
		[
			{ flavour: { value: "documented", origin: "profile p" }, body: undefined },
			undefined,
			"profile p says documented",
		],
		[{ flavour: undefined, body: { value: "plain", origin: "profile p" } }, undefined, "body form plain"],
		[
			{ flavour: undefined, body: undefined },
			{ ...found, flavour: documented, foundAt: 0, origin: "remembered" },
			"found 3 days ago",
		],
	] as const)("that contradicts what is set or remembered is a warning", (settings, before, words) => {
		const check = flavourCheck(found, before, settings);
		expect([check.status, check.hint === undefined]).toEqual(["warning", false]);
		expect(check.text).toContain(words);
	});

	it.each([
		[59_000, "0 minutes"],
		[61_000, "1 minute"],
		[7_199_000, "119 minutes"],
		[7_200_000, "2 hours"],
		[2 * DAY, "2 days"],
	])("%i ms ago is %s", (milliseconds, text) => {
		expect(ageText(milliseconds)).toBe(text);
	});
});

describe("rights", () => {
	it("a team member reads what the key may and may not do, and that is a failure", () => {
		const check = rightCheck("may_not", "D", true);
		expect(check).toMatchObject({ status: "failed", exit: Exit.failedRows });
		expect(check.text).toBe(
			"this key can list, upload and remove in dataset D, but may not update: only the owner's key may",
		);
		expect(rightCheck("may_not", "D", false).text).not.toContain("RAGFlow");
		expect([rightCheck("may", "D", true).status, rightCheck("unknown", "D", true).status]).toEqual(["ok", "warning"]);
	});

	it("without a dataset there is nothing to ask, and one can be made", () => {
		const check = firstDataset({}, undefined);
		expect(check.status).toBe("skipped");
		expect(check.hint).toContain("ragtag datasets create NAME");
	});
});

describe("the exit code is that of the failure to correct first", () => {
	const failure = (exit: Check["exit"]): Check => ({ name: String(exit), status: "failed", text: "", exit });
	it.each([
		[[], undefined],
		[[{ name: "a", status: "warning", text: "" } as const], undefined],
		[[failure(1), failure(6)], 6],
		[[failure(6), failure(4)], 4],
		[[failure(4), failure(2)], 2],
		[[failure(undefined)], 1],
		[[failure(70), failure(1)], 1],
	])("%j", (checks, exit) => {
		expect(decisiveFailure(checks)?.exit).toBe(exit);
	});
});

describe("the next command can be typed as it stands", () => {
	const dataset = { id: "it's", origin: undefined, documents: 3 };
	it.each([
		[undefined, {}, "ragtag datasets create NAME"],
		[{ ...dataset, documents: 0 }, {}, String.raw`ragtag docs upload FILE... -d 'it'\''s'`],
		[{ ...dataset, id: "d1" }, { profile: "p q" }, "ragtag manifest init -d d1 --out tags.csv --profile 'p q'"],
	])("%j with %j: %s", (chosen, flags, command) => {
		expect(nextCommand(undefined, chosen, flags)).toBe(command);
	});

	it("it does not repeat a flag that it sets", () => {
		const check: Check = { name: "key", status: "failed", text: "", next: "ragtag doctor --api-key-file PATH" };
		expect(nextCommand(check, undefined, { apiKeyFile: "old.key", baseUrl: "http://h" })).toBe(
			"ragtag doctor --api-key-file PATH --base-url http://h",
		);
	});
});
