import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "../refusal.ts";
import type { Store } from "../store/index.ts";
import type { Change, Writes } from "../store/writes.ts";
import type { Fault } from "./fault.ts";

export type WriteFaults = {
	/** false: writes are rolled back, and answered as if they were not */
	readonly applies: boolean;
	readonly fault: Fault | undefined;
	/** milliseconds by which writes are delayed */
	readonly delay: number;
	/** aborted when the sandbox is closed: a write that is still delayed is then not applied */
	readonly closing: AbortSignal;
	/** called for each change that was committed */
	readonly onApplied: (change: Change) => void;
};

/** The store as one request sees it: its writes are reported, altered, delayed or rolled back, as its fault wants. */
export function faultyStore(store: Store, { applies, fault, delay, closing, onApplied }: WriteFaults): Store {
	// One time for all writes of a request: an upload writes its bytes and then its documents.
	const due = performance.now() + delay;
	const commits: Writes = {
		flush: () => store.commits.flush(),
		dryRun: (work) => store.commits.dryRun(work),
		async write(work) {
			const wait = due - performance.now();
			if (delay > 0 && wait > 0) {
				await sleep(wait, undefined, { signal: closing }).catch(() => {
					throw new Refusal(503, "the sandbox is closing");
				});
			}
			const changes: Change[] = [];
			const observer = {
				onChange: (change: Change) => void changes.push(change),
				alterMetadata: (metadata: string) => fault?.alterMetadata?.(metadata) ?? metadata,
			};
			const observed = (): ReturnType<typeof work> => store.changes.observe(observer, work);
			if (!applies) return store.commits.dryRun(observed);
			const value = await store.commits.write(observed);
			for (const change of changes) {
				onApplied(change);
				if (change.action === "update") fault?.onReplaced?.(change.dataset, change.document, change.before);
			}
			return value;
		},
	};
	return { ...store, commits };
}
