import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../errors.ts";
import { parseJson } from "../../json/parse-json.ts";
import { isJsonObject, type JsonObject } from "../../json/values.ts";
import { makeFolder } from "../storage/folders.ts";
import { removeFile } from "../storage/quick-files.ts";
import { readSending, recordedSending, type SendingFlags } from "./sending-flags.ts";

/** The task of a run: enough to resume it from any folder. It does not contain the API key. */
export type RunFile = {
	readonly run: string;
	/** the command that began it: `docs tag`, `runs undo` */
	readonly command: string;
	/** version of the program that began it */
	readonly ragtag: string;
	/** ISO 8601 */
	readonly started: string;
	/** number in the order in which runs began, whatever the clock said; absent in records of 0.1.0 */
	readonly order?: number;
	/** number of its newest execution, where it was resumed or retried */
	readonly lastOrder?: number;
	/** `user@host` of the process that began it; absent in earlier records, and where the system names no user */
	readonly by?: string;
	/** as `normaliseBaseUrl` gives it */
	readonly baseUrl: string;
	/** `name` as the user gave it; `path` is absolute, or the path of the copy in the run's folder */
	readonly manifest: {
		readonly name: string;
		readonly path: string;
		readonly sha256: string;
		readonly rows: number;
		/** for a plan: name of the manifest whose lines its rows name; absent in records of earlier releases */
		readonly source?: string;
	};
	/** the shards whose records were joined in this one; absent for a run that sent its rows itself */
	readonly mergedFrom?: readonly string[];
	/** options of the command that change what is sent, after parsing */
	readonly options: JsonObject;
	/** how its rows are sent, where the command line said so; a resumed run does the same. Absent in earlier records */
	readonly sending?: SendingFlags;
	/** global flags that the next command needs too: `--profile`, `--ca-file`, each followed by its value */
	readonly flags: readonly string[];
};

/** Increased when the meaning of a member changes. */
const SCHEMA = 1;

export function runFileText(file: RunFile): string {
	return `${JSON.stringify({ schema: SCHEMA, ...runFileMembers(file) }, undefined, "\t")}\n`;
}

/** The members of a record as it is written and shown. */
export function runFileMembers({ baseUrl, sending, ...file }: RunFile): object {
	return { ...file, ...(sending === undefined ? {} : { sending: recordedSending(sending) }), base_url: baseUrl };
}

/** Reads a `run.json`. @returns undefined where it is damaged, or has the schema of another release */
export function readRunFile(text: string): RunFile | undefined {
	const file = parsed(text);
	if (!isJsonObject(file) || file["schema"] !== SCHEMA) return undefined;
	const {
		run,
		command,
		ragtag,
		started,
		order,
		lastOrder,
		base_url: baseUrl,
		manifest,
		options,
		flags,
		mergedFrom,
		by,
	} = file as Members;
	const sending = readSending(file["sending"]);
	if (!isText(run) || !isText(command) || !isText(ragtag) || !isText(started) || !isText(baseUrl)) return undefined;
	if (!isJsonObject(manifest) || !isJsonObject(options)) return undefined;
	if (!Array.isArray(flags) || !flags.every(isText)) return undefined;
	const { name, path, sha256, rows, source } = manifest as Members;
	if (!isText(name) || !isText(path) || !isText(sha256) || typeof rows !== "number") return undefined;
	return {
		run,
		command,
		ragtag,
		started,
		...(isOrder(order) ? { order } : {}),
		...(isOrder(lastOrder) ? { lastOrder } : {}),
		...(isText(by) ? { by } : {}),
		baseUrl,
		manifest: { name, path, sha256, rows, ...(isText(source) ? { source } : {}) },
		...(Array.isArray(mergedFrom) && mergedFrom.every(isText) ? { mergedFrom } : {}),
		options,
		...(sending === undefined ? {} : { sending }),
		flags,
	};
}

/** Far more runs than a folder ever has. A larger number is not this program's, and would leave no next one. */
const LARGEST_ORDER = 1e12;

/** Whether a value may be the order number of a run. */
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

/** A run's name: the second in which it began (UTC), then its milliseconds and a random number, three hexadecimal digits each. */
const RUN_ID = /^\d{8}T\d{6}-[0-9a-f]{6}$/;

/**
 * A name that sorts by age, also for two runs that began in the same second.
 *
 * @param now epoch milliseconds
 * @param random from 0 to 4095
 */
export function runId(now: number, random: number): string {
	const moment = new Date(now).toISOString().replaceAll(/[-:]|\.\d+Z$/g, "");
	return `${moment}-${hexadecimal(now % 1000)}${hexadecimal(random)}`;
}

/** Whether a text has the form of a run's name. It is then safe as part of a path. */
export function isRunId(text: string): boolean {
	return RUN_ID.test(text);
}

/** When a run of that name began, in epoch milliseconds, to the second. */
export function startOfRun(name: string): number {
	return Date.parse(name.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\d)-.*$/, "$1-$2-$3:$4:$5Z"));
}

function hexadecimal(number: number): string {
	return number.toString(16).padStart(3, "0");
}

/** The members by which the ages of runs are compared. */
export type RunAge = Pick<RunFile, "run" | "started" | "order" | "lastOrder">;

/** The number of the newest execution of a run; 0 in records of 0.1.0. */
export function newestOrder({ order = 0, lastOrder = order }: Pick<RunFile, "order" | "lastOrder">): number {
	return lastOrder;
}

/** Milliseconds by which a clock may be set back without a warning: time synchronisation corrects it by less. */
const CLOCK_TOLERANCE_MS = 2_000;

/**
 * Compares runs by when they began, the oldest first. It uses their order numbers, as the clock may have been wrong.
 * Records of 0.1.0 have none: they come before all others, by the time in their names.
 */
export function byAge(one: RunAge, other: RunAge): number {
	const difference = (one.order ?? 0) - (other.order ?? 0);
	if (difference !== 0) return difference;
	// Without numbers, or with equal ones, which two machines with a shared folder may have taken at the same time.
	return one.run < other.run ? -1 : one.run > other.run ? 1 : 0;
}

/** An older run that began later than the newest one by the clock, which must have been changed in between. */
export function startedLaterByClock<Run extends RunAge>(newest: RunAge, all: readonly Run[]): Run | undefined {
	const began = Date.parse(newest.started);
	return all.find((other) => byAge(other, newest) < 0 && Date.parse(other.started) > began + CLOCK_TOLERANCE_MS);
}

/**
 * Takes the next order number for an execution: each beginning, resume, retry and undo has one. The number is the name of a file, which only one process can create. So two runs
 * that begin at the same time get two numbers, on several machines too. A process that is killed here leaves a gap, which
 * does no harm. The numbers of recorded runs count too, in case the file is lost or an old copy of it was restored.
 *
 * @param recorded all recorded runs
 */
export async function takeOrder(runsFolder: string, recorded: readonly RunAge[]): Promise<number> {
	const folder = join(runsFolder, ".order");
	makeFolder(folder);
	const taken = readdirSync(folder).map(Number).filter(isOrder);
	let next = 1 + [...taken, ...recorded.map(newestOrder)].reduce((a, b) => Math.max(a, b), 0);
	for (; ; next++) {
		try {
			closeSync(openSync(join(folder, String(next)), "wx", 0o600));
			break;
		} catch (error) {
			if (errorCode(error) !== "EEXIST") throw error;
		}
	}
	// Only the last file is needed: earlier numbers are in records, or are gaps.
	for (const earlier of taken) removeFile(join(folder, String(earlier)));
	return next;
}
