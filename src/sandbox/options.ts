import type { FaultPlan } from "./faults/plan.ts";
import type { Flavour } from "./flavours/index.ts";
import type { Settings, Ties } from "./settings.ts";
import type { Upgrade } from "./active-flavour.ts";

export type SandboxOptions = {
	/** 0 takes a free one */
	port: number;
	/** path of the SQLite file; without it a temporary one, removed at the end */
	data?: string;
	/** random when not given */
	key?: string;
	/** a second key, of a member of the owner's team: RAGFlow lets it do all but update */
	memberKey?: string;
	/** default `documented` */
	flavour?: Flavour;
	/** becomes another flavour once so many updates were applied */
	upgrade?: Upgrade;
	/** default: stable as documented, unstable as RAGFlow */
	ties?: Ties;
	/** milliseconds added before each answer */
	latency?: number;
	/** fills an empty store with a dataset of that many documents */
	documents?: number;
	/** default `replace` */
	update?: "replace" | "merge";
	/** default 1000 */
	pageSizeLimit?: number;
	/** default `error` */
	onLargePage?: "error" | "cap";
	/** default `status` */
	errorStyle?: "status" | "envelope";
	/** what goes wrong on purpose; with it there is a control address */
	faults?: FaultPlan;
	/** a control address, also without a plan: one can be set later, and what was applied is written down */
	control?: boolean;
	/** takes one line a request, when it was answered; the time in it is that of its arrival */
	log?: (line: string) => void;
};

/** The longest wait a timer can be set to. */
const longestTimer = 2 ** 31 - 1;

/** Names of ten digits and a file of some gigabytes: beyond that a number is a slip. */
const mostDocuments = 100_000_000;

/** Throws, in words for the person who set them, for options that cannot hold. */
export function checkOptions(options: SandboxOptions): void {
	wholeNumber("port", options.port, 0, 65_535);
	wholeNumber("latency", options.latency ?? 0, 0, longestTimer);
	wholeNumber("documents", options.documents ?? 0, 0, mostDocuments);
	wholeNumber("pageSizeLimit", options.pageSizeLimit ?? 1, 1, Number.MAX_SAFE_INTEGER);
	if (options.data === "") throw new Error("The path of the sandbox's data is empty");
	wholeNumber("upgrade", options.upgrade?.after ?? 1, 1, Number.MAX_SAFE_INTEGER);
	checkKey(options.key);
	checkKey(options.memberKey);
	if (options.key !== undefined && options.key === options.memberKey)
		throw new Error("The sandbox's keys of the owner and of the member are the same");
}

export function settingsOf(options: SandboxOptions): Settings {
	return {
		latency: options.latency ?? 0,
		update: options.update ?? "replace",
		pageSizeLimit: options.pageSizeLimit ?? 1000,
		onLargePage: options.onLargePage ?? "error",
		errorStyle: options.errorStyle ?? "status",
		ties: options.ties,
	};
}

/** What a header can carry without being changed on the way. */
function checkKey(key: string | undefined): void {
	if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
		throw new Error("The sandbox's key is empty, or holds other than visible ASCII characters");
}

function wholeNumber(name: string, value: number, least: number, most: number): void {
	if (!Number.isInteger(value) || value < least || value > most)
		throw new Error(`The sandbox's ${name} is not a whole number from ${least} to ${most}`);
}
