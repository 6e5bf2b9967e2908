import { expect, test } from "vitest";
import { Ledger, ledgerLength } from "../../../src/sandbox/faults/ledger.ts";

test("a full ledger drops its oldest entries and reports the gap, and its counts stay exact", () => {
	const ledger = new Ledger();
	const asked = { method: "PUT", url: "/x", path: "/x", headers: {} };
	const rounds = ledgerLength / 2 + 10;
	for (let round = 0; round < rounds; round++) {
		const document = `doc-${round % 3000}`;
		const ticket = ledger.arrived({ ...asked, document });
		ledger.applied(ticket, { action: "update", dataset: "d", document, before: "{}", metadata: "{}" });
		ledger.answered(ticket, null, 200);
	}
	const entries = [...ledger.from(5)];
	expect(entries[0]).toEqual({ type: "gap", from: 5, to: 20 });
	expect(entries.slice(1).map((entry) => "entry" in entry && entry.entry)).toEqual(
		Array.from({ length: ledgerLength }, (_, index) => 21 + index),
	);
	expect(ledger.counts.totals()).toEqual({ requests: rounds, applied: rounds });
	expect(ledger.counts.of("doc-9")).toEqual({ document: "doc-9", updates: 17, requests: 17 });
	expect(ledger.counts.of("nobody")).toEqual({ document: "nobody", updates: 0, requests: 0 });
	expect([...ledger.from(ledgerLength * 2)]).toEqual([]);
});

test("of long metadata an entry keeps only the hash, so that the ledger's memory is bounded", () => {
	const ledger = new Ledger();
	const ticket = ledger.arrived({ method: "PUT", url: "/x", path: "/x", headers: {}, document: "a" });
	const metadata = JSON.stringify({ text: "x".repeat(2000) });
	ledger.applied(ticket, { action: "update", dataset: "d", document: "a", before: "{}", metadata });
	expect([...ledger.from(1)][0]).not.toHaveProperty("meta_fields");
	expect([...ledger.from(1)][0]).toHaveProperty("meta_sha256", expect.stringMatching(/^[0-9a-f]{64}$/));
});
