import * as v from "valibot";
import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../errors.ts";
import { parseAs } from "../../json/parse-as.ts";
import { compareUnits, isJsonObject, type JsonObject } from "../../json/values.ts";
import { MOST_CONCURRENCY, parseRateSetting, type RateSetting, rateSettingText } from "../../rates.ts";
import { TEXTS } from "../journal/records.ts";
import { makeFolder } from "../storage/folders.ts";
import { removeFile } from "../storage/quick-files.ts";

/** Far more runs than a folder ever has. A larger number is not this program's, and would leave no next one. */
const LARGEST_ORDER = 1e12;

const ORDER = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(LARGEST_ORDER));

/** A rate as it is typed. */
export const RATE = v.pipe(
	v.string(),
	v.transform(parseRateSetting),
	v.custom<RateSetting>((rate) => rate !== undefined),
);

/** A member that is left out where it has no such value. */
export function known<Schema extends v.GenericSchema>(schema: Schema) {
	return v.fallback(v.optional(schema), undefined);
}

const SENDING = v.object({
	/** false: the previous values of documents are not saved */
	undo: known(v.literal(false)),
	rate: known(RATE),
	/** requests in flight at most; absent for as many as the rate needs */
	concurrency: known(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MOST_CONCURRENCY))),
});

/** How the rows of a run are sent, as far as its command line said so. It does not change what is sent. */
export type SendingFlags = Readonly<v.InferOutput<typeof SENDING>>;

/** @returns undefined where the flags say nothing that a resumed run would not do anyway */
export function sendingOf(flags: {
	readonly undo?: boolean | undefined;
	readonly rate?: RateSetting | undefined;
	readonly concurrency: number | "auto";
}): SendingFlags | undefined {
	const undo = flags.undo === false ? flags.undo : undefined;
	const concurrency = flags.concurrency === "auto" ? undefined : flags.concurrency;
	const isUnsaid = undo === undefined && flags.rate === undefined && concurrency === undefined;
	return isUnsaid ? undefined : { undo, rate: flags.rate, concurrency };
}

/** The member of `run.json`. */
export function recordedSending({ undo, rate, concurrency }: SendingFlags): object {
	return { undo, concurrency, rate: rate === undefined ? undefined : rateSettingText(rate) };
}

const RUN_FILE = v.pipe(
	v.object({
		/** increased when the meaning of a member changes */
		schema: v.literal(1),
		run: v.string(),
		/** the command that began it: `docs tag`, `runs undo` */
		command: v.string(),
		/** version of the program that began it */
		ragtag: v.string(),
		/** ISO 8601 */
		started: v.string(),
		/** number in the order in which runs began, whatever the clock said; 0 for a merged run that all others followed */
		order: ORDER,
		/** number of its newest execution, where it was resumed or retried */
		lastOrder: known(ORDER),
		/** `user@host` of the process that began it; absent where the system names no user */
		by: known(v.string()),
		/** `name` as the user gave it; `path` is absolute, or the path of the copy in the run's folder */
		manifest: v.object({
			name: v.string(),
			path: v.string(),
			sha256: v.string(),
			rows: v.number(),
			/** for a plan: name of the manifest whose lines its rows name */
			source: known(v.string()),
		}),
		/** the shards whose records were joined in this one; absent for a run that sent its rows itself */
		mergedFrom: known(TEXTS),
		/** options of the command that change what is sent, after parsing */
		options: v.custom<JsonObject>(isJsonObject),
		/** how its rows are sent, where the command line said so; a resumed run does the same */
		sending: known(SENDING),
		/** global flags that the next command needs too: `--profile`, `--ca-file`, each followed by its value */
		flags: TEXTS,
		/** as `normaliseBaseUrl` gives it */
		base_url: v.string(),
	}),
	v.transform((read) => {
		const { schema: _, base_url: baseUrl, ...file } = read;
		return { ...file, baseUrl };
	}),
);

/** The task of a run: enough to resume it from any folder. It does not contain the API key. */
export type RunFile = Readonly<v.InferOutput<typeof RUN_FILE>>;

export function runFileText(file: RunFile): string {
	return `${JSON.stringify({ schema: 1, ...runFileMembers(file) }, undefined, "\t")}\n`;
}

/** The members of a record as it is written and shown. */
export function runFileMembers({ baseUrl, sending, ...file }: RunFile): object {
	return { ...file, sending: sending && recordedSending(sending), base_url: baseUrl };
}

/** Reads a `run.json`. @returns undefined where it is damaged, or has the schema of another release */
export function readRunFile(text: string): RunFile | undefined {
	return parseAs(RUN_FILE, text);
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
type RunAge = Pick<RunFile, "run" | "started" | "order" | "lastOrder">;

/** The number of the newest execution of a run. */
export function newestOrder({ order, lastOrder = order }: Pick<RunFile, "order" | "lastOrder">): number {
	return lastOrder;
}

/** Compares runs by when they began, the oldest first. It uses their order numbers, as the clock may have been wrong. */
export function byAge(one: RunAge, other: RunAge): number {
	// Two machines with a shared folder may have taken one number at the same time.
	return one.order - other.order || compareUnits(one.run, other.run);
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
	const taken = readdirSync(folder)
		.map(Number)
		.filter((number) => v.is(ORDER, number));
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
