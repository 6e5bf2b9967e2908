import { isJsonObject } from "../../json/values.ts";
import { MOST_CONCURRENCY, parseRateSetting, type RateSetting, rateSettingText } from "../../rates.ts";

/** How the rows of a run are sent, as far as its command line said so. It does not change what is sent. */
export type SendingFlags = {
	/** false: the previous values of documents are not saved */
	readonly undo?: boolean;
	readonly rate?: RateSetting;
	/** requests in flight at most; absent for as many as the rate needs */
	readonly concurrency?: number;
};

/** Flags of a command line, of which some say how rows are sent. */
type CommandFlags = {
	readonly undo?: boolean | undefined;
	readonly rate?: RateSetting | undefined;
	readonly concurrency: number | "auto";
};

/** @returns undefined where the flags say nothing that a resumed run would not do anyway */
export function sendingOf({ undo, rate, concurrency }: CommandFlags): SendingFlags | undefined {
	const sending: SendingFlags = {
		...(undo === false ? { undo } : {}),
		...(rate === undefined ? {} : { rate }),
		...(concurrency === "auto" ? {} : { concurrency }),
	};
	return Object.keys(sending).length === 0 ? undefined : sending;
}

/** The member of `run.json`. A rate is a text as it is typed. */
export function recordedSending({ rate, ...others }: SendingFlags): object {
	return { ...others, ...(rate === undefined ? {} : { rate: rateSettingText(rate) }) };
}

/** Reads it again. What this version does not know is left out: it changes no value. */
export function readSending(value: unknown): SendingFlags | undefined {
	if (!isJsonObject(value)) return undefined;
	const { undo, rate, concurrency } = value;
	const known = typeof rate === "string" ? parseRateSetting(rate) : undefined;
	const isCount = typeof concurrency === "number" && Number.isInteger(concurrency);
	return sendingOf({
		...(undo === false ? { undo } : {}),
		rate: known,
		concurrency: isCount && concurrency >= 1 && concurrency <= MOST_CONCURRENCY ? concurrency : "auto",
	});
}
