import * as v from "valibot";
import { parseAs } from "../../json/parse-as.ts";
import { rateSettingText } from "../../rates.ts";
import { RATE } from "./run-file.ts";

/** The change that `runs adjust` asks for, and the answer of the run, in the run's folder. */
export const ADJUST_FILE = "adjust.json";
export const ADJUSTED_FILE = "adjusted.json";

/** The process that executes the run, as long as it does. */
export const PROCESS_FILE = "process.json";

/** Increased when the meaning of a member changes. */
const SCHEMA = v.literal(1);

const WANTED = v.pipe(
	v.strictObject({
		schema: SCHEMA,
		/** a random text, which the answer repeats */
		id: v.string(),
		rate: v.optional(RATE),
		/** true pauses the run, false continues it */
		paused: v.optional(v.boolean()),
	}),
	v.check(({ rate, paused }) => rate !== undefined || paused !== undefined),
);

/** A change of a run that is going on. At least one of `rate` and `paused` is there. */
type WantedChange = Readonly<Omit<v.InferOutput<typeof WANTED>, "schema">>;

/** The setting before and now. */
const TAKEN = v.object({ schema: SCHEMA, id: v.string(), before: RATE, rate: RATE, paused: v.boolean() });

/** The state after an accepted change. */
export type TakenChange = Readonly<Omit<v.InferOutput<typeof TAKEN>, "schema">>;

export function wantedChangeText({ id, rate, paused }: WantedChange): string {
	const text = rate === undefined ? undefined : rateSettingText(rate);
	return `${JSON.stringify({ schema: 1, id, rate: text, paused })}\n`;
}

/** @returns undefined for a file that `wantedChangeText` did not write */
export function readWantedChange(file: string): WantedChange | undefined {
	return parseAs(WANTED, file);
}

export function takenChangeText({ id, before, rate, paused }: TakenChange): string {
	const rates = { before: rateSettingText(before), rate: rateSettingText(rate) };
	return `${JSON.stringify({ schema: 1, id, ...rates, paused })}\n`;
}

/** @returns undefined for a file that `takenChangeText` did not write */
export function readTakenChange(file: string): TakenChange | undefined {
	return parseAs(TAKEN, file);
}
