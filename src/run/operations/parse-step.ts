import type { Run } from "../../rest/parsing.ts";

/** Which documents are parsed. */
export type ParsePlan = {
	/** only those whose parsing failed */
	readonly onlyFailed: boolean;
	/** also those that are done, whose chunks are made anew */
	readonly again: boolean;
};

/**
 * What is done with a document in that state: `start` it, `follow` it as it is at work already, or `leave` it. A document that
 * is at work is never started a second time: some releases would do it twice.
 */
export function parseStep(run: Run, { onlyFailed, again }: ParsePlan): "start" | "follow" | "leave" {
	switch (run) {
		case "RUNNING":
			return "follow";
		case "DONE":
			return again ? "start" : "leave";
		case "FAIL":
			return "start";
		case "UNSTART":
		case "CANCEL":
			return onlyFailed ? "leave" : "start";
	}
}

/** Milliseconds between two looks at what is at work: the longer it takes, the less often it changes. */
export function lookAgainAfter(waited: number): number {
	return Math.min(LONGEST_LOOK_MS, Math.max(SHORTEST_LOOK_MS, waited / 10));
}

const SHORTEST_LOOK_MS = 500;
const LONGEST_LOOK_MS = 10_000;
