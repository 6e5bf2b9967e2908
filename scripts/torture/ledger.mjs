// What the service applied: its own account, never the program's.

/** Follows the ledger of a sandbox, which holds no more than its last entries. */
export class Ledger {
	#control;
	#next = 1;
	/** what was applied, in the order in which it was */
	applied = [];
	/** requests by their number, which is that of their arrival */
	requests = new Map();

	constructor(control) {
		this.#control = control;
	}

	/** Takes in what was written since the last time. */
	async follow() {
		const text = await (await fetch(`${this.#control}/ledger?from=${this.#next}`)).text();
		for (const line of text.split("\n")) {
			if (line === "") continue;
			const entry = JSON.parse(line);
			if (entry.type === "gap") throw new Error(`the ledger let go of entries ${entry.from} to ${entry.to}`);
			this.#next = entry.entry + 1;
			if (entry.type === "applied") this.applied.push(entry);
			else this.requests.set(entry.request, entry);
		}
	}

	/** Follows until nothing more comes: a request that was left behind may still be applied. */
	async settle(milliseconds = 150) {
		for (let before = -1; before !== this.#next;) {
			before = this.#next;
			await this.follow();
			await new Promise((resolve) => setTimeout(resolve, milliseconds));
			await this.follow();
		}
	}

	/** Lets go of what was followed: another run begins. */
	forget() {
		this.applied = [];
		this.requests.clear();
	}
}

/** Faults that leave the program without a usable answer: it has to send again, whether it is killed or not. */
const ASKING = new Set(["reset", "status", "outage"]);

/**
 * Documents that were written more than once though no fault asked for it, by the kill that explains them: the one
 * that ended the execution in which the earlier write was sent. What neither a fault nor a kill explains is the
 * program's own doing.
 *
 * @param starts when each execution was started, in milliseconds: what arrived before is of the execution before
 */
export function resent({ applied, requests }, starts) {
	const executionOf = (entry) => {
		const time = Date.parse((requests.get(entry.request) ?? entry).time);
		let execution = 0;
		while (execution + 1 < starts.length && starts[execution + 1] <= time) execution += 1;
		return execution;
	};
	const writes = new Map();
	for (const entry of applied) {
		if (entry.action === "lose" || entry.action === "create") continue;
		const list = writes.get(entry.document) ?? [];
		list.push(entry);
		writes.set(entry.document, list);
	}
	const byKill = new Map();
	const unasked = [];
	let asked = 0;
	for (const [document, list] of writes) {
		const ordered = list.toSorted((one, other) => one.request - other.request);
		for (let place = 1; place < ordered.length; place++) {
			const [earlier, later] = [ordered[place - 1], ordered[place]];
			if (ASKING.has(requests.get(earlier.request)?.fault?.name)) {
				asked += 1;
				continue;
			}
			const execution = executionOf(earlier);
			if (execution === executionOf(later)) unasked.push(document);
			else byKill.set(execution, (byKill.get(execution) ?? 0) + 1);
		}
	}
	const counts = [...byKill.values()];
	return { writes, all: counts.reduce((sum, count) => sum + count, 0), most: Math.max(0, ...counts), asked, unasked };
}
