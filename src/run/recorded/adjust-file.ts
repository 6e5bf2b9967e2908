import { jsonObjectOf } from "../../json/parse-json.ts";
import type { JsonObject } from "../../json/values.ts";
import { parseRateSetting, type RateSetting, rateSettingText } from "../../rates.ts";

/** The change that `runs adjust` asks for, and the answer of the run, in the run's folder. */
export const ADJUST_FILE = "adjust.json";
export const ADJUSTED_FILE = "adjusted.json";

/** The process that executes the run, as long as it does. */
export const PROCESS_FILE = "process.json";

/** A change of a run that is going on. At least one of `rate` and `paused` is there. */
export type WantedChange = {
	/** a random text, which the answer repeats */
	readonly id: string;
	readonly rate?: RateSetting;
	/** true pauses the run, false continues it */
	readonly paused?: boolean;
};

/** The state after an accepted change. */
export type TakenChange = {
	/** that of the change */
	readonly id: string;
	/** the setting before and now */
	readonly before: RateSetting;
	readonly rate: RateSetting;
	readonly paused: boolean;
};

/** Increased when the meaning of a member changes. */
const SCHEMA = 1;

export function wantedChangeText({ id, rate, paused }: WantedChange): string {
	return text({ id, ...rateMember("rate", rate), ...(paused === undefined ? {} : { paused }) });
}

/** @returns undefined for a file that `wantedChangeText` did not write */
export function readWantedChange(file: string): WantedChange | undefined {
	const object = membersOf(file);
	if (object === undefined) return undefined;
	const { id, rate, paused, ...others } = object;
	if (typeof id !== "string" || Object.keys(others).length > 0) return undefined;
	if (paused !== undefined && typeof paused !== "boolean") return undefined;
	if (rate === undefined && paused === undefined) return undefined;
	const setting = settingIn(rate);
	if (rate !== undefined && setting === undefined) return undefined;
	return { id, ...(setting === undefined ? {} : { rate: setting }), ...(paused === undefined ? {} : { paused }) };
}

export function takenChangeText({ id, before, rate, paused }: TakenChange): string {
	return text({ id, ...rateMember("before", before), ...rateMember("rate", rate), paused });
}

/** @returns undefined for a file that `takenChangeText` did not write */
export function readTakenChange(file: string): TakenChange | undefined {
	const object = membersOf(file);
	if (object === undefined) return undefined;
	const { id, paused } = object;
	const [before, rate] = [settingIn(object["before"]), settingIn(object["rate"])];
	if (typeof id !== "string" || typeof paused !== "boolean" || before === undefined || rate === undefined) {
		return undefined;
	}
	return { id, before, rate, paused };
}

function text(members: JsonObject): string {
	return `${JSON.stringify({ schema: SCHEMA, ...members })}\n`;
}

function rateMember(name: string, setting: RateSetting | undefined): JsonObject {
	return setting === undefined ? {} : { [name]: rateSettingText(setting) };
}

function settingIn(value: unknown): RateSetting | undefined {
	return typeof value === "string" ? parseRateSetting(value) : undefined;
}

function membersOf(file: string): JsonObject | undefined {
	const { schema, ...members } = jsonObjectOf(file) ?? {};
	return schema === SCHEMA ? members : undefined;
}
