import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../errors.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { isJsonObject, type JsonValue } from "../../json/values.ts";
import { writeWhole } from "../../write-whole.ts";
import { makeFolder } from "../storage/folders.ts";

/** What showed that a rate was too high: the status of a refusal, or answers that took longer. */
export type Cause = "429" | "503" | "latency";

/** The highest rate that a service stood, and what showed it. Rates are requests a second. */
export type Finding = {
	readonly rate: number;
	readonly because: Cause;
	/** the rate at which it showed */
	readonly at: number;
};

/** A finding, or the rate that was reached without a sign: then `because` and `at` are null. */
export type FoundRate = Finding | { readonly rate: number; readonly because: null; readonly at: null };

/** Keeps what `--rate auto` found at one address. */
export type RateMemory = {
	/** undefined where nothing is kept, or nothing of use */
	load(): Promise<FoundRate | undefined>;
	/** Never rejects: what can't be kept is found anew by the next run. */
	save(found: FoundRate): Promise<void>;
};

/** Milliseconds for which a finding is used: a service changes within a month. */
const VALID_MS = 30 * 24 * 60 * 60 * 1000;

/** Increased when the meaning of a member changes. */
const SCHEMA = 1;

const CAUSES: readonly Cause[] = ["429", "503", "latency"];

/** The text of a file. It names its address, so that a reader knows what it is about; it holds no key. */
export function keptRateText(baseUrl: string, { rate, because, at }: FoundRate, now: Date): string {
	return `${JSON.stringify({ schema: SCHEMA, base_url: baseUrl, rate, because, at, found_at: now.toISOString() })}\n`;
}

/** @returns undefined for one that is too old, and for another address; `damaged` for what `keptRateText` did not write */
export function readKeptRate(text: string, baseUrl: string, now: Date): FoundRate | "damaged" | undefined {
	const { schema, base_url: address, rate, because, at, found_at: time } = jsonObjectOf(text) ?? {};
	if (typeof schema === "number" && schema !== SCHEMA) return undefined;
	const found = typeof time === "string" ? Date.parse(time) : Number.NaN;
	const kept = foundRateIn({ rate: rate ?? null, because: because ?? null, at: at ?? null });
	if (schema !== SCHEMA || kept === undefined || typeof address !== "string" || Number.isNaN(found)) return "damaged";
	return address !== baseUrl || Math.abs(now.getTime() - found) > VALID_MS ? undefined : kept;
}

/** The finding that a JSON value states, as files and summaries do; undefined for any other value. */
export function foundRateIn(value: JsonValue | undefined): FoundRate | undefined {
	if (!isJsonObject(value)) return undefined;
	const { rate, because, at } = value;
	if (!isRate(rate)) return undefined;
	if (because === null && at === null) return { rate, because, at };
	const cause = CAUSES.find((each) => each === because);
	return cause !== undefined && isRate(at) ? { rate, because: cause, at } : undefined;
}

function isRate(value: unknown): value is number {
	return typeof value === "number" && Number.isFinite(value) && value > 0;
}

/** One small file for each address, beside what is known of its flavour. @param note prints a sentence for the user */
export function fileRateMemory(
	stateDir: string,
	baseUrl: string,
	{ date, note }: { readonly date: () => Date; readonly note: (text: string) => void },
): RateMemory {
	const folder = join(stateDir, "services");
	const path = join(folder, `${createHash("sha256").update(baseUrl).digest("hex").slice(0, 16)}.rate.json`);
	return {
		load: async () => {
			try {
				const kept = readKeptRate(await readFile(path, "utf8"), baseUrl, date());
				if (kept !== "damaged") return kept;
				note(`${path} is damaged, and is not used: the rate is looked for anew.`);
			} catch (error) {
				if (errorCode(error) !== "ENOENT")
					note(`${path} can't be read (${errorCode(error) ?? "unknown"}): the rate is looked for anew.`);
			}
			return undefined;
		},
		save: async (found) => {
			try {
				makeFolder(folder);
				await writeWhole(path, keptRateText(baseUrl, found, date()), { isSynced: false });
			} catch {
				// The next run finds the rate anew.
			}
		},
	};
}

/** For a machine without a state folder. */
export const noRateMemory: RateMemory = { load: async () => undefined, save: async () => undefined };

/** Requests a second with which a run without a cap begins. */
export const FIRST_RATE = 20;

/** Whether what a run found is kept for the next one: a sign, or a rate beyond what was known. */
export function isWorthKeeping(found: FoundRate, kept: FoundRate | undefined): boolean {
	return found.because !== null || found.rate > (kept?.rate ?? FIRST_RATE);
}

/** From 10 requests a second on it is a whole number; below, it has one digit after the point. */
export function rounded(rate: number): number {
	return rate >= 10 ? Math.round(rate) : Math.round(rate * 10) / 10;
}
