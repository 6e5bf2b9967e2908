import type { Clock } from "../../types.ts";
import type { Answer, Ask } from "./script.ts";

/** Redis, as the shared cap needs it. Each call ends within a bounded time. */
export type Store = {
	/** Rejects where Redis did not answer in time. */
	call(ask: Ask): Promise<Answer>;
	close(): void;
};

/** A run's part of the cap, by the last answer of Redis. Without a cap, `rate` is undefined. */
export type Share = { readonly rate: number | undefined; readonly cap: number | undefined; readonly runs: number };

export type SharedCapOptions = {
	readonly store: Store;
	readonly clock: Clock;
	/** a name that no other run has */
	readonly run: string;
	/** the most requests a second that all runs together may send, as far as this run is asked; undefined for no cap */
	readonly cap: () => number | undefined;
	/** the most requests a second of this run alone, while Redis does not answer; undefined once the cap is shared again */
	readonly onShare: (share: Share | undefined) => void;
	/** another run was asked to send nothing for so many milliseconds */
	readonly onCooldown: (milliseconds: number) => void;
};
