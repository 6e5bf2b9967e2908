import { open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../errors.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../json/values.ts";
import { makeFolder } from "../storage/folders.ts";

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

/** Names of runs: the second they began (UTC), then its milliseconds and chance, in three hexadecimal digits each. */
const form = /^\d{8}T\d{6}-[0-9a-f]{6}$/;

/**
 * A name that sorts by age, so that of two runs begun in one second the later one is the newest.
 *
 * @param now epoch milliseconds
 * @param chance from 0 to 4095
 */
export function runId(now: number, chance: number): string {
	const moment = new Date(now).toISOString().replaceAll(/[-:]|\.\d+Z$/g, "");
	return `${moment}-${hexadecimal(now % 1000)}${hexadecimal(chance)}`;
}

/** Whether a text is the name of a run, and so no path that leads elsewhere. */
export function isRunId(text: string): boolean {
	return form.test(text);
}

function hexadecimal(number: number): string {
	return number.toString(16).padStart(3, "0");
}

/** What tells the age of a run. */
export type RunAge = Pick<RunFile, "run" | "started" | "order">;

/** Milliseconds by which a clock may be set back without a word: keeping it right moves it by less. */
const CLOCK_TOLERANCE_MS = 2_000;

/**
 * Orders runs by when they began, the oldest first: by their number, as the clock may have been wrong. Records of 0.1.0
 * have none; they come before all that have one, by their time.
 */
export function byAge(one: RunAge, other: RunAge): number {
	const difference = (one.order ?? 0) - (other.order ?? 0);
	if (difference !== 0) return difference;
	// Equal numbers: both have none, or two machines that share a folder took one at once.
	return one.run < other.run ? -1 : one.run > other.run ? 1 : 0;
}

/** A run that began before another by its number, and after it by the clock: the clock was changed between. */
export function startedLaterByClock<Run extends RunAge>(newest: RunAge, all: readonly Run[]): Run | undefined {
	const began = Date.parse(newest.started);
	return all.find((other) => byAge(other, newest) < 0 && Date.parse(other.started) > began + CLOCK_TOLERANCE_MS);
}

/**
 * Takes the next number for a run. It is a file's name, which one process alone can make: so two starts at once get two
 * numbers, on several machines too, and a process that is killed here leaves a gap and no harm. The records are asked
 * as well: where the file is lost, or an old copy of it was put back, they still know the largest.
 *
 * @param recorded the runs that there are
 */
export async function takeOrder(runsFolder: string, recorded: readonly RunAge[]): Promise<number> {
	const folder = join(runsFolder, ".order");
	await makeFolder(folder);
	const taken = (await readdir(folder)).map(Number).filter(isOrder);
	let next = 1 + [...taken, ...recorded.map(({ order }) => order ?? 0)].reduce((a, b) => Math.max(a, b), 0);
	for (; ; next++) {
		try {
			await (await open(join(folder, String(next)), "wx", 0o600)).close();
			break;
		} catch (error) {
			if (errorCode(error) !== "EEXIST") throw error;
		}
	}
	// The last one is enough: those before it are in records, or were given up.
	for (const earlier of taken) await rm(join(folder, String(earlier)), { force: true });
	return next;
}
