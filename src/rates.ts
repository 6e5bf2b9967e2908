/** Requests a second at most. */
type Rate = number | "unlimited";

/** A rate, or the rate that is found while requests are sent. */
export type RateChoice = Rate | "auto";

/** The rate from a minute of the local day on. Minutes count from midnight. */
type RateEntry = { readonly minute: number; readonly rate: RateChoice };

/** The value of `--rate`: a rate, or a timetable of at least one entry, by minute. */
export type RateSetting = RateChoice | readonly RateEntry[];

/** The right forms, for messages. */
export const RATE_FORMS = "a number of requests per second, auto, unlimited, or a timetable as in '08:00=20 20:00=100'";

/** Requests a second that the service's documentation advises. */
export const ADVISED_RATE = 100;

/** The most requests in flight with `--concurrency auto`, unless the user asked for a rate that needs more. */
export const MAX_CONCURRENCY = 64;

/** Reading requests in flight unless `--concurrency` is given: enough for the rate at the latency of a far service. */
export const READS_IN_FLIGHT = 32;

/** Requests a second: the lowest and the highest rate that can be asked for. */
const LOWEST = 0.01;
const HIGHEST = 1_000_000;

/**
 * The most requests a second that a service can be asked to take at a latency (milliseconds). A higher rate can't be reached:
 * `MAX_CONCURRENCY` requests are in flight at most, and each takes `latency`.
 */
export function safeRate(latency: number): number {
	if (latency <= 0) return ADVISED_RATE;
	return Math.max(1, Math.min(ADVISED_RATE, Math.floor(MAX_CONCURRENCY / (latency / 1000))));
}

/** Requests in flight at most that `--concurrency` can ask for: each takes a connection and a file descriptor. */
export const MOST_CONCURRENCY = 1024;

const MINUTES_IN_HOUR = 60;

/** Reads `20`, `auto`, `unlimited` or `08:00=20 20:00=100`. @returns undefined for any other text */
export function parseRateSetting(text: string): RateSetting | undefined {
	if (!text.includes("=")) return parseRate(text);
	const entries = text.trim().split(/\s+/).map(parseEntry);
	const known = entries.flatMap((entry) => (entry === undefined ? [] : [entry]));
	const minutes = new Set(known.map(({ minute }) => minute));
	if (known.length < entries.length || minutes.size < known.length) return undefined;
	return known.toSorted((one, other) => one.minute - other.minute);
}

function parseRate(text: string): RateChoice | undefined {
	if (text === "unlimited" || text === "auto") return text;
	const rate = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
	return rate >= LOWEST && rate <= HIGHEST ? rate : undefined;
}

function parseEntry(text: string): RateEntry | undefined {
	const [, hours, minutes, value = ""] = /^([01]?\d|2[0-3]):([0-5]\d)=(.*)$/.exec(text) ?? [];
	const rate = parseRate(value);
	return rate === undefined ? undefined : { minute: Number(hours) * MINUTES_IN_HOUR + Number(minutes), rate };
}

/** The rate at a minute of the day. Before the first entry, the last one of the day before holds. */
export function rateAt(setting: RateSetting, minute: number): RateChoice {
	if (typeof setting !== "object") return setting;
	const entry = setting.findLast((each) => each.minute <= minute) ?? setting.at(-1);
	return entry?.rate ?? "unlimited";
}

/** Minutes since midnight, local time. */
export function minuteOfDay(date: Date): number {
	return date.getHours() * MINUTES_IN_HOUR + date.getMinutes();
}

/** A setting in the form in which it is typed. */
export function rateSettingText(setting: RateSetting): string {
	if (typeof setting !== "object") return String(setting);
	return setting.map(({ minute, rate }) => `${clockText(minute)}=${rate}`).join(" ");
}

/** Whether the rate is found at any time. */
export function isEverAuto(setting: RateSetting): boolean {
	return choicesIn(setting).includes("auto");
}

/** The highest rate that a setting allows at any time. A rate that is found is none that the user allows: it counts as 0. */
export function highestRate(setting: RateSetting): Rate {
	const rates = choicesIn(setting).map((rate) => (rate === "auto" ? 0 : rate));
	return rates.find((rate) => rate === "unlimited") ?? Math.max(...rates.map(Number));
}

function choicesIn(setting: RateSetting): readonly RateChoice[] {
	return typeof setting === "object" ? setting.map(({ rate }) => rate) : [setting];
}

function clockText(minute: number): string {
	const two = (number: number): string => String(number).padStart(2, "0");
	return `${two(Math.floor(minute / MINUTES_IN_HOUR))}:${two(minute % MINUTES_IN_HOUR)}`;
}
