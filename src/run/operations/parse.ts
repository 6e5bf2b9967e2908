import pLimit from "p-limit";
import { rejected, RestError } from "../../rest/errors.ts";
import type { Parsing, Run } from "../../rest/parsing.ts";
import type { DocumentState, ParsingStates } from "../documents/parsing-states.ts";
import { RetryLater } from "../retry/retry.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import {
	type Group,
	grouped,
	type Memory,
	notInDataset,
	type OpenWork,
	type Operation,
	type Settled,
} from "./operation.ts";
import { startParsing } from "./parse-start.ts";
import type { LiveCounts } from "../rate/current-work.ts";

export type ParseOptions = ParsePlan & {
	/** whether a row ends when its document does, and not when it is at work */
	readonly waits: boolean;
	/** milliseconds without a change after which a document counts as one that never ends */
	readonly stallTime: number;
	/** shows which documents are at work */
	readonly live?: Pick<LiveCounts, "parsing" | "ended"> | undefined;
	/** called before documents are started */
	readonly onStart?: () => void;
};

/** Milliseconds for which a list is recent enough to decide by: what changes meanwhile is refused, and looked at again. */
const RECENT_MS = 5_000;

/** A document at work: when it was first seen so, when what is shown of it changed last, and what that is. */
type Followed = { readonly since: number; changed: number; last: string };

/** The progress below which a document waits for others: RAGFlow shows a random share of 0.01 for one that is queued. */
const QUEUED = 0.01;

/** Codes of documents that ended badly. Many may, and no other row is worse for it. */
export const PARSE_CODES: ReadonlySet<string> = new Set(["PARSE_FAILED", "PARSE_STALLED", "PARSE_STOPPED", "DISABLED"]);

/** Documents of one request. A small number is refused for few others, and the server queues it in a moment. */
const AT_ONCE = 10;

/** The parsing of documents, a few of one dataset at a time. */
type ParseGroup = Group & {
	/** whether a document is at work, and is only followed */
	readonly isFollowed: (memory: Memory) => boolean;
};

/**
 * Starts the parsing of documents, and where that is asked for, follows each to its end. What the list shows decides: the
 * answer of the service says little, and differs between releases.
 */
export function parseGroup(service: Service, states: ParsingStates, options: ParseOptions): ParseGroup {
	const { clock } = service;
	const sent = new WeakSet<Memory>();
	// A document that is at work ends a request in its middle, so requests come one after another.
	const turn = pLimit(1);
	const followed = new WeakMap<Memory, Followed>();
	/** when anything that is shown of a document has changed last */
	let changed = clock.now();
	const follow = ({ item, memory }: OpenWork, document: DocumentState): Settled => {
		const { parsing } = document;
		const done: Settled = { status: "parsed", documentId: item.documentId };
		const failure = failureOf(document, service);
		if (failure !== undefined) throw failure;
		if (parsing?.run === "DONE" || !options.waits) return done;
		const now = clock.now();
		const shown = stateText(parsing);
		const state = followed.get(memory) ?? { since: now, changed: now, last: "" };
		followed.set(memory, state);
		if (shown !== state.last) Object.assign(state, { changed: (changed = now), last: shown });
		// One that is queued moves when others do.
		const still = now - ((parsing?.progress ?? 0) > QUEUED ? state.changed : changed);
		if (still >= options.stallTime) throw stalled(document, still, service);
		options.live?.parsing(memory, parsing?.progress ?? 0);
		throw new RetryLater(lookAgainAfter(now - state.since));
	};
	/** The end of a row whose document is not started. */
	const look = async (row: OpenWork, request: Request): Promise<Settled | "start"> => {
		const { item, memory } = row;
		const state = followed.get(memory);
		const age = state === undefined ? RECENT_MS : lookAgainAfter(clock.now() - state.since) / 2;
		const document = await states.now(service.api, request, item, clock.now() - age);
		if (document === undefined) throw notInDataset(service, item);
		memory.name = document.name;
		if (state !== undefined) return follow(row, document);
		const { run, isEnabled } = document.parsing ?? {};
		if (run === undefined) throw rejected("NO_STATE", `the service shows no state of parsing for ${nameOf(document)}`);
		const step = parseStep(run, options);
		const isOurs = sent.has(memory) || options.waits;
		if (step === "follow" && isOurs) return follow(row, document);
		if (step !== "start") return { status: "unchanged", documentId: item.documentId };
		if (isEnabled === false) throw disabled(document, service);
		return step;
	};
	const start = async (rows: readonly OpenWork[], request: Request) => {
		const ends: Parameters<typeof startParsing>[0]["ends"] = new Map();
		if (rows.length > 0) {
			options.onStart?.();
			await turn(() => startParsing({ service, request, states, sent, ends }, rows));
		}
		return ends;
	};
	const settle = async (row: OpenWork, end: () => Promise<Settled>): Promise<Settled> => {
		let isEnd = true;
		try {
			return await end();
		} catch (error) {
			isEnd = error instanceof RestError && error.kind === "rejected";
			throw error;
		} finally {
			if (isEnd) {
				states.forget(row.item);
				options.live?.ended(row.memory);
			}
		}
	};
	return {
		most: AT_ONCE,
		isFollowed: (memory) => followed.has(memory),
		begin: (rows, request) => {
			const began = clock.now();
			const looks = new Map(rows.map((row) => [row, look(row, request)]));
			const started = Promise.allSettled(looks.values()).then((all) => {
				const open = rows.filter((_, at) => all[at]?.status === "fulfilled" && all[at].value === "start");
				return start(open, request);
			});
			return (row) =>
				settle(row, async () => {
					const end = await (looks.get(row) ?? look(row, request));
					if (end !== "start") return end;
					const failed = (await started).get(row);
					if (failed !== undefined) throw failed.error;
					const document = await states.now(service.api, request, row.item, began - RECENT_MS);
					if (document === undefined) throw notInDataset(service, row.item);
					return follow(row, document);
				});
		},
	};
}

/** Starts the parsing of each row's document, as `parseGroup` does. */
export function parseDocuments<Item extends Work>(
	service: Service,
	states: ParsingStates,
	options: ParseOptions,
): Operation<Item> {
	const group = parseGroup(service, states, options);
	const operation = grouped<Item>(group, ({ memory }) => !group.isFollowed(memory));
	const coming = (items: readonly Item[]): void => states.expect(items);
	return Object.assign(operation, { expected: PARSE_CODES, coming });
}

function stateText(parsing: Parsing | undefined): string {
	return `${parsing?.run} ${parsing?.progress} ${parsing?.message}`;
}

/** Why a document that was started came to no good end; undefined where it is at work or done. */
function failureOf(document: DocumentState, service: Pick<Service, "show">): RestError | undefined {
	const { run, message } = document.parsing ?? {};
	if (run === "FAIL") {
		const said = reasonIn(message);
		const why = said === "" ? "the service gives no reason" : service.show(said);
		return rejected("PARSE_FAILED", `the parsing of ${nameOf(document, service)} failed: ${why}`);
	}
	if (run !== "CANCEL" && run !== "UNSTART") return undefined;
	return rejected("PARSE_STOPPED", `the parsing of ${nameOf(document, service)} was stopped before its end`);
}

/** The last line of the service's messages that speaks of an error, or the last one. */
function reasonIn(message = ""): string {
	const lines = message.split("\n").filter((line) => line.trim() !== "");
	return (lines.findLast((line) => /error|fail|exception/i.test(line)) ?? lines.at(-1) ?? "").trim();
}

/** RAGFlow syncs the progress of enabled documents alone (get_unfinished_docs in api/db/services/document_service.py). */
function disabled(document: DocumentState, service: Pick<Service, "show">): RestError {
	const text = `${nameOf(document, service)} is disabled, and its parsing would never end; it was not started, and keeps its chunks: enable it first`;
	return rejected("DISABLED", text);
}

function stalled(document: DocumentState, milliseconds: number, service: Pick<Service, "show">): RestError {
	const minutes = Math.max(1, Math.round(milliseconds / 60_000));
	const share = Math.floor((document.parsing?.progress ?? 0) * 100);
	const text = `the parsing of ${nameOf(document, service)} is at ${share} %, and nothing of it has changed for ${minutes} min: the service may have no worker, or can't read the file`;
	return rejected("PARSE_STALLED", text);
}

function nameOf({ name, id }: DocumentState, service?: Pick<Service, "show">): string {
	return service === undefined ? `document ${id}` : `${service.show(name)} (${id})`;
}

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
function lookAgainAfter(waited: number): number {
	return Math.min(LONGEST_LOOK_MS, Math.max(SHORTEST_LOOK_MS, waited / 10));
}

const SHORTEST_LOOK_MS = 500;
const LONGEST_LOOK_MS = 10_000;
