import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "../envelope.ts";
import type { Change } from "../store/changes.ts";
import type { Writes } from "../store/commits.ts";
import type { Store } from "../store/index.ts";
import type { Fault } from "./kind.ts";

type Watched = {
	/** false: what is written is taken back, and answered as if it were not */
	readonly applies: boolean;
	readonly fault: Fault | undefined;
	/** milliseconds by which a write comes later */
	readonly late: number;
	/** aborted when the sandbox is closed: what is still late then is not applied */
	readonly closing: AbortSignal;
	readonly applied: (change: Change) => void;
};

/** The store as one request sees it: what it writes is told, changed, put off or taken back, as its fault has it. */
export function watchedStore(store: Store, { applies, fault, late, closing, applied }: Watched): Store {
	// One moment for all writes of a request: an upload writes its bytes and then its documents.
	const due = performance.now() + late;
	const commits: Writes = {
		flush: () => store.commits.flush(),
		rehearse: (work) => store.commits.rehearse(work),
		async write(work) {
			const wait = due - performance.now();
			if (late > 0 && wait > 0) {
				await sleep(wait, undefined, { signal: closing }).catch(() => {
					throw new Refusal(503, "the sandbox is closing");
				});
			}
			const changes: Change[] = [];
			const listener = {
				note: (change: Change) => void changes.push(change),
				alter: (metadata: string) => fault?.alter?.(metadata) ?? metadata,
			};
			const heard = (): ReturnType<typeof work> => store.changes.during(listener, work);
			if (!applies) return store.commits.rehearse(heard);
			const value = await store.commits.write(heard);
			for (const change of changes) {
				applied(change);
				if (change.action === "update") fault?.replaced?.(change.dataset, change.document, change.before);
			}
			return value;
		},
	};
	return { ...store, commits };
}
