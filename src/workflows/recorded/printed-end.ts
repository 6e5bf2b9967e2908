import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../errors.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../json/values.ts";
import type { Summary } from "../../report/summary.ts";
import type { VerifyCounts } from "../../report/verify.ts";
import type { SlowCause } from "../../run/rate/pace.ts";
import { foundRateIn } from "../../run/rate/rate-memory.ts";
import type { FoundRate } from "../../run/rate/rate-search.ts";
import { SUMMARY_FILE } from "../../run/recorded/run-store.ts";

/** What only the summary of a run says: no journal has it. */
export type PrintedEnd = {
	readonly seconds: number;
	readonly exit: number;
	readonly stop: { readonly code: number; readonly text: string } | undefined;
	readonly slow: readonly SlowCause[];
	readonly verify: VerifyCounts | undefined;
	/** whether an update was seen to arrive, and none is known to be lost */
	readonly isVerified: boolean;
	/** whether other runs shared its cap */
	readonly isCapShared: boolean;
	/** what `--rate auto` found */
	readonly foundRate: FoundRate | undefined;
	/** the command that undoes it */
	readonly undo: string | undefined;
};

export function endOf(summary: Summary): PrintedEnd {
	const { seconds, exit_code: exit, stop, slow, verify, undo, verified, limiter, found_rate: found } = summary;
	return {
		seconds,
		exit,
		stop: stop ?? undefined,
		slow,
		verify: verify ?? undefined,
		isVerified: verified,
		isCapShared: limiter !== null,
		foundRate: foundRateIn(found),
		undo: undo ?? undefined,
	};
}

/** The end of the last execution of a run; undefined where it goes on, was killed, or its file is damaged. */
export async function readPrintedEnd(folder: string): Promise<PrintedEnd | undefined> {
	const text = await readFile(join(folder, SUMMARY_FILE), "utf8").catch((error: unknown) => {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	});
	const object = text === undefined ? undefined : jsonObjectOf(text);
	if (object === undefined) return undefined;
	const { seconds, exit_code: exit, stop, slow = [], verify, undo, verified, limiter, found_rate: found } = object;
	if (typeof seconds !== "number" || typeof exit !== "number") return undefined;
	return {
		seconds,
		exit,
		stop: isJsonObject(stop) ? stopIn(stop) : undefined,
		slow: isJsonArray(slow) ? slow.flatMap(slowCause) : [],
		verify: verifyCounts(verify),
		isVerified: verified === true,
		isCapShared: isJsonObject(limiter),
		foundRate: foundRateIn(found),
		undo: typeof undo === "string" ? undo : undefined,
	};
}

function stopIn({ code, text }: JsonObject): PrintedEnd["stop"] {
	return typeof code === "number" && typeof text === "string" ? { code, text } : undefined;
}

function slowCause(value: JsonValue): SlowCause[] {
	if (!isJsonObject(value)) return [];
	const { cause, seconds } = value;
	return typeof cause === "string" && typeof seconds === "number" ? [{ cause, seconds }] : [];
}

function verifyCounts(value: JsonValue | undefined): VerifyCounts | undefined {
	if (!isJsonObject(value)) return undefined;
	const mode = (["sample", "all"] as const).find((each) => each === value["mode"]);
	const count = (name: string): number => {
		const number = value[name];
		return typeof number === "number" ? number : 0;
	};
	if (mode === undefined) return undefined;
	return {
		mode,
		rows: count("rows"),
		checked: count("checked"),
		equal: count("equal"),
		normalised: count("normalised"),
		lost: count("lost"),
		changed_since: count("changed_since"),
		unknown: count("unknown"),
		pending: count("pending"),
	};
}
