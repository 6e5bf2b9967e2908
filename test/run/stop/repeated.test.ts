import { describe, expect, it } from "vitest";
import { Exit } from "../../../src/errors.ts";
import { RepeatedFailures } from "../../../src/run/stop/limits.ts";
import { failure } from "../harness.ts";

/** Codes of failed rows, "ok" for a success; the place of the row that ended the run (1 is the first) and its exit. */
function endOf(rows: readonly string[]): readonly [number, number] | undefined {
	const repeated = new RepeatedFailures();
	for (const [place, code] of rows.entries()) {
		if (code === "ok") {
			repeated.succeeded();
			continue;
		}
		const error = failure("rejected", { code });
		const stop = repeated.attemptFailed(error) ?? repeated.failed(error);
		if (stop !== undefined) return [place + 1, stop.exit];
	}
	return undefined;
}

const times = (count: number, code: string): string[] => Array.from({ length: count }, () => code);

describe("answers that concern the whole run when they are repeated", () => {
	it.each<[string, string[], readonly [number, number] | undefined]>([
		["a key that may not update: the first row tells", ["FORBIDDEN", "ok"], [1, Exit.untrusted]],
		["a right that was taken away in the middle", ["ok", ...times(9, "FORBIDDEN")], [6, Exit.untrusted]],
		["a firewall that refuses from the middle on", ["ok", ...times(9, "PROXY_REFUSED")], [6, Exit.untrusted]],
		[
			"rows of a dataset of somebody else, here and there",
			["ok", ...times(4, "FORBIDDEN"), "ok", ...times(4, "FORBIDDEN")],
			undefined,
		],
		["the same between other failures", ["CODE_102", ...times(4, "FORBIDDEN"), "CODE_102", "FORBIDDEN"], undefined],
		["answers about other documents", ["ok", ...times(3, "ECHO_MISMATCH")], [4, Exit.temporary]],
		["two of them", ["ECHO_MISMATCH", "ECHO_MISMATCH", "ok", "ECHO_MISMATCH", "CODE_1", "ECHO_MISMATCH"], undefined],
		["rows that were lost, one after another", ["ok", "NOT_ARRIVED", "NOT_REMOVED", "NOT_STORED"], [4, Exit.temporary]],
		[
			"a lost row here and there",
			["NOT_ARRIVED", "NOT_ARRIVED", "ok", "NOT_ARRIVED", "CODE_1", "NOT_ARRIVED"],
			undefined,
		],
		["a server that can't do it, from the start", ["HTTP_501", "HTTP_505", "HTTP_511"], [3, Exit.temporary]],
		["a server that could", ["ok", ...times(5, "HTTP_501")], undefined],
		["one that refuses for another reason, too", ["HTTP_501", "CODE_1", "HTTP_501", "HTTP_501"], undefined],
		["refusals of rows are left to --max-errors", times(20, "CODE_102"), undefined],
	])("%s", (_, rows, end) => {
		expect(endOf(rows)).toEqual(end);
	});

	it("a team member whose update is refused sees the service's words", () => {
		const error = failure("rejected", { code: "FORBIDDEN" });
		const stop = new RepeatedFailures().failed(error);
		expect(stop?.text).toBe("the first row was refused for lack of permission: it was rejected");
		// RAGFlow says the same of a dataset that is not there.
		expect(stop?.hint).toContain("ragtag datasets list shows the datasets of this key");
	});
});
