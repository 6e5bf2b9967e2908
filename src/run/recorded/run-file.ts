import { isJsonObject, type JsonObject, parseJson } from "../../json/values.ts";

/** What a run was told to do: enough to go on with it from anywhere. It holds no key. */
export type RunFile = {
	readonly run: string;
	/** the command that began it, as it is typed: `docs tag`, `runs undo` */
	readonly command: string;
	/** version of the program that began it */
	readonly ragtag: string;
	/** ISO 8601 */
	readonly started: string;
	/** tells what began before what, whatever the clock said; absent in records of 0.1.0 */
	readonly order?: number;
	/** as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	/** as it was typed; the path that is read again is absolute, or that of the copy in the run's folder */
	readonly manifest: {
		readonly name: string;
		readonly path: string;
		readonly sha256: string;
		readonly rows: number;
		/** name of the manifest that a plan was made from, whose lines its rows name; absent in records of earlier releases */
		readonly source?: string;
	};
	/** options of the command that change what is sent, as the command understands them */
	readonly options: JsonObject;
	/** global flags that the next command needs as well: `--profile`, `--ca-file` and their values in turn */
	readonly flags: readonly string[];
};

/** Raised when the meaning of a member changes. */
const SCHEMA = 1;

export function runFileText({ baseUrl, ...file }: RunFile): string {
	return `${JSON.stringify({ schema: SCHEMA, ...file, base_url: baseUrl }, undefined, "\t")}\n`;
}

/** Reads a `run.json`; undefined where it is damaged or of another release's layout. */
export function readRunFile(text: string): RunFile | undefined {
	const file = parsed(text);
	if (!isJsonObject(file) || file["schema"] !== SCHEMA) return undefined;
	const { run, command, ragtag, started, order, base_url: baseUrl, manifest, options, flags } = file as Members;
	if (!isText(run) || !isText(command) || !isText(ragtag) || !isText(started) || !isText(baseUrl)) return undefined;
	if (!isJsonObject(manifest) || !isJsonObject(options)) return undefined;
	if (!Array.isArray(flags) || !flags.every(isText)) return undefined;
	const { name, path, sha256, rows, source } = manifest as Members;
	if (!isText(name) || !isText(path) || !isText(sha256) || typeof rows !== "number") return undefined;
	const of = isText(source) ? { source } : {};
	const counted = isOrder(order) ? { order } : {};
	const told = { run, command, ragtag, started, ...counted, baseUrl };
	return { ...told, manifest: { name, path, sha256, rows, ...of }, options, flags };
}

/** Far more runs than any folder has seen: a larger number is none of this program's, and would end the counting. */
const LARGEST_ORDER = 1e12;

/** Whether a value may be the place of a run among all that began in a state folder. */
export function isOrder(value: unknown): value is number {
	return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= LARGEST_ORDER;
}

type Members = { readonly [key: string]: unknown };

function isText(value: unknown): value is string {
	return typeof value === "string";
}

function parsed(text: string): unknown {
	try {
		return parseJson(text);
	} catch {
		return undefined;
	}
}
