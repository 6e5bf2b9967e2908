import type { Upgrade } from "./active-flavour.ts";
import type { FaultPlan } from "./faults/plan.ts";
import type { Flavour } from "./flavours/index.ts";

export type SandboxOptions = {
	/** 0 takes a free one */
	port: number;
	/** path of the SQLite file; default: a temporary one, which is removed at the end */
	data?: string | undefined;
	/** default: a random one */
	key?: string | undefined;
	/** a second key, of a member of the owner's team: RAGFlow lets it do all but update */
	memberKey?: string | undefined;
	/** default `documented` */
	flavour?: Flavour;
	/** becomes another flavour after so many updates */
	upgrade?: Upgrade | undefined;
	/** default: stable as documented, unstable as RAGFlow */
	ties?: Ties | undefined;
	/** milliseconds added before each answer */
	latency?: number;
	/** fills an empty store with a dataset of that many documents */
	documents?: number | undefined;
	/** default `replace` */
	update?: "replace" | "merge";
	/** lists that show a document at work before its parsing ends; default 3 */
	parsingLists?: number | undefined;
	/** default 1000 */
	pageSizeLimit?: number | undefined;
	/** default `error` */
	onLargePage?: "error" | "cap";
	/** default `status` */
	errorStyle?: "status" | "envelope";
	/** the faults to inject; with it there is a control address */
	faults?: FaultPlan | undefined;
	/** a control address, also without a plan: a plan can be set later, and the ledger is kept */
	control?: boolean;
	/** takes one line for each request, when it was answered; the time in it is that of its arrival */
	log?: (line: string) => void;
};

/** Whether documents with equal sort keys keep their order from page to page. Real databases do not promise it. */
export type Ties = "stable" | "unstable";

/**
 * The behaviour that the documentation leaves open. Each is a switch, because a client must not depend on one answer.
 *
 * Releases of RAGFlow have fixed answers. They use only latency, ties and the pace of parsing.
 */
export type Settings = {
	/** milliseconds by which every answer is delayed */
	readonly latency: number;
	/** whether an update replaces the metadata of a document, or is merged into it key by key */
	readonly update: "replace" | "merge";
	readonly parsingLists: number;
	/** largest `page_size` */
	readonly pageSizeLimit: number;
	/** whether a larger `page_size` is refused, or silently reduced */
	readonly onLargePage: "error" | "cap";
	/** whether errors have their HTTP status, or status 200 with the code in the envelope alone */
	readonly errorStyle: "status" | "envelope";
	/** `undefined`: as the flavour does, stable as documented and unstable as RAGFlow */
	readonly ties: Ties | undefined;
};

export function settingsOf(options: SandboxOptions): Settings {
	return {
		latency: options.latency ?? 0,
		update: options.update ?? "replace",
		parsingLists: options.parsingLists ?? 3,
		pageSizeLimit: options.pageSizeLimit ?? 1000,
		onLargePage: options.onLargePage ?? "error",
		errorStyle: options.errorStyle ?? "status",
		ties: options.ties,
	};
}

/** Milliseconds of the longest wait that a timer takes. */
const longestTimer = 2 ** 31 - 1;

/** A file of some gigabytes: a larger number is a mistake. */
const mostDocuments = 100_000_000;

/** Throws an error for the user where an option is out of its range. */
export function checkOptions(options: SandboxOptions): void {
	checkWholeNumber("port", options.port, 0, 65_535);
	checkWholeNumber("latency", options.latency ?? 0, 0, longestTimer);
	checkWholeNumber("documents", options.documents ?? 0, 0, mostDocuments);
	checkWholeNumber("pageSizeLimit", options.pageSizeLimit ?? 1, 1, Number.MAX_SAFE_INTEGER);
	checkWholeNumber("parsingLists", options.parsingLists ?? 1, 1, Number.MAX_SAFE_INTEGER);
	checkWholeNumber("upgrade", options.upgrade?.after ?? 1, 1, Number.MAX_SAFE_INTEGER);
	if (options.data === "") throw new Error("The path of the sandbox's data is empty");
	checkKeyText(options.key);
	checkKeyText(options.memberKey);
	if (options.key !== undefined && options.key === options.memberKey)
		throw new Error("The sandbox's keys of the owner and of the member are the same");
}

/** A header can carry visible ASCII characters unchanged, and others not. */
function checkKeyText(key: string | undefined): void {
	if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
		throw new Error("The sandbox's key is empty, or contains other than visible ASCII characters");
}

function checkWholeNumber(name: string, value: number, least: number, most: number): void {
	if (!Number.isInteger(value) || value < least || value > most)
		throw new Error(`The sandbox's ${name} is not a whole number from ${least} to ${most}`);
}
