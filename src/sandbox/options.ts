import type { Settings } from "./settings.ts";

export type SandboxOptions = {
	/** 0 takes a free one */
	port: number;
	/** path of the SQLite file; without it a temporary one, removed at the end */
	data?: string;
	/** random when not given */
	key?: string;
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
	// What a header can carry without being changed on the way.
	if (options.key !== undefined && !/^[\x21-\x7e]+$/.test(options.key))
		throw new Error("The sandbox's key is empty, or holds other than visible ASCII characters");
}

export function settingsOf(options: SandboxOptions): Settings {
	return {
		latency: options.latency ?? 0,
		update: options.update ?? "replace",
		pageSizeLimit: options.pageSizeLimit ?? 1000,
		onLargePage: options.onLargePage ?? "error",
		errorStyle: options.errorStyle ?? "status",
	};
}

function wholeNumber(name: string, value: number, least: number, most: number): void {
	if (!Number.isInteger(value) || value < least || value > most)
		throw new Error(`The sandbox's ${name} is not a whole number from ${least} to ${most}`);
}
