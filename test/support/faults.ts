import type { Sandbox } from "../../src/sandbox/index.ts";

/** Parameters that keep a fault short. Its effect is the same. */
export const SHORT_FAULTS: Readonly<Record<string, object>> = {
	delay: { milliseconds: 5 },
	late: { milliseconds: 5 },
	busy: { milliseconds: 5 },
	outage: { milliseconds: 30 },
	"database-away": { milliseconds: 30 },
	"searches-fail": { milliseconds: 30 },
	drip: { milliseconds: 0, bytes: 20 },
	bandwidth: { bytes: 100_000 },
	message: { bytes: 100_000 },
	encoded: { how: "bomb", megabytes: 2 },
	"list-huge-page": { items: 50 },
	"list-empty-page": { page: 2 },
};

/**
 * Fails where a planned fault did not fire, or not as often as planned: a test of failures that saw none proves nothing.
 */
export function expectFired({ control }: Pick<Sandbox, "control">): void {
	if (control === undefined) throw new Error("this sandbox has no faults");
	const plan = control.plan();
	if (plan.length === 0) throw new Error("no fault was planned");
	const missing = plan.filter(({ fired, planned }) => fired < (planned ?? 1));
	if (missing.length === 0) return;
	const lines = missing.map(({ fault, when, fired, planned, fitted }) => {
		const wanted = planned === null ? "once at least" : `${planned} times`;
		return `${fault} (${when}) was planned to fire ${wanted}, and fired ${fired} times; ${fitted} requests fitted it`;
	});
	throw new Error(`planned faults did not fire:\n${lines.join("\n")}`);
}
