import * as v from "valibot";
import { errorCode } from "../../errors.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { fileOfService } from "../storage/quick-files.ts";

const RATE = v.pipe(v.number(), v.finite(), v.minValue(Number.MIN_VALUE));
const CAUSE = v.picklist(["429", "503", "latency"]);

/** What showed that a rate was too high: the status of a refusal, or answers that took longer. */
export type Cause = v.InferOutput<typeof CAUSE>;

/** The highest rate that a service stood, what showed it, and the rate at which it showed. Rates are requests a second. */
const FINDING = v.object({ rate: RATE, because: CAUSE, at: RATE });
export type Finding = Readonly<v.InferOutput<typeof FINDING>>;

/** A finding, or the rate that was reached without a sign: then `because` and `at` are null. */
export const FOUND_RATE = v.union([FINDING, v.object({ rate: RATE, because: v.null(), at: v.null() })]);
export type FoundRate = Readonly<v.InferOutput<typeof FOUND_RATE>>;

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

const KEPT = v.object({
	schema: v.literal(SCHEMA),
	base_url: v.string(),
	found_at: v.pipe(v.string(), v.transform(Date.parse), v.number()),
});

/** The text of a file. It names its address, so that a reader knows what it is about; it holds no key. */
export function keptRateText(baseUrl: string, { rate, because, at }: FoundRate, now: Date): string {
	return `${JSON.stringify({ schema: SCHEMA, base_url: baseUrl, rate, because, at, found_at: now.toISOString() })}\n`;
}

/** @returns undefined for one that is too old, and for another address; `damaged` for what `keptRateText` did not write */
export function readKeptRate(text: string, baseUrl: string, now: Date): FoundRate | "damaged" | undefined {
	const { schema, ...members } = jsonObjectOf(text) ?? {};
	if (typeof schema === "number" && schema !== SCHEMA) return undefined;
	const kept = v.safeParse(KEPT, { schema, ...members });
	const found = v.safeParse(FOUND_RATE, members);
	if (!kept.success || !found.success) return "damaged";
	const { base_url: address, found_at: time } = kept.output;
	return address !== baseUrl || Math.abs(now.getTime() - time) > VALID_MS ? undefined : found.output;
}

/** One small file for each address, beside what is known of its flavour. @param note prints a sentence for the user */
export function fileRateMemory(
	stateDir: string,
	baseUrl: string,
	{ date, note }: { readonly date: () => Date; readonly note: (text: string) => void },
): RateMemory {
	const file = fileOfService(stateDir, baseUrl, "rate.json");
	return {
		load: async () => {
			try {
				const text = file.read();
				const kept = text === undefined ? undefined : readKeptRate(text, baseUrl, date());
				if (kept !== "damaged") return kept;
				note(`${file.path} is damaged, and is not used: the rate is looked for anew.`);
			} catch (error) {
				note(`${file.path} can't be read (${errorCode(error) ?? "unknown"}): the rate is looked for anew.`);
			}
			return undefined;
		},
		save: (found) => file.write(keptRateText(baseUrl, found, date())),
	};
}

/** Requests a second with which a run without a cap begins. */
export const FIRST_RATE = 20;

/** Whether what a run found is kept for the next one: a sign, or a rate beyond what was known. */
export function isWorthKeeping(found: FoundRate, kept: FoundRate | undefined): boolean {
	return found.because !== null || found.rate > (kept?.rate ?? FIRST_RATE);
}

/** What a run found: its finding, or without one the rate that it reached. */
export function foundRate(finding: Finding | undefined, reached: number): FoundRate {
	if (finding === undefined) return { rate: rounded(reached), because: null, at: null };
	return { rate: rounded(finding.rate), because: finding.because, at: rounded(finding.at) };
}

/** From 10 requests a second on it is a whole number; below, it has one digit after the point. */
function rounded(rate: number): number {
	return rate >= 10 ? Math.round(rate) : Math.round(rate * 10) / 10;
}
