/** Milliseconds in a unit of TIME. */
const UNITS: ReadonlyMap<string, number> = new Map([
	["ms", 1],
	["s", 1000],
	["", 1000],
	["m", 60_000],
	["h", 3_600_000],
	["d", 86_400_000],
	["w", 604_800_000],
]);

/** Milliseconds, a hundred years: a long wait is made of several timers, so that none gets a time that is too long for it. */
const LONGEST = 5_200 * 604_800_000;

/** Milliseconds of `500ms`, `60s`, `5m`, `2h`, `30d` or `2w`; a bare number is seconds. undefined for any other text. */
export function millisecondsIn(text: string): number | undefined {
	const match = /^(\d+(?:\.\d+)?)(ms|[smhdw]|)$/.exec(text);
	const milliseconds = Number(match?.[1]) * (UNITS.get(match?.[2] ?? "") ?? Number.NaN);
	return milliseconds >= 1 && milliseconds <= LONGEST ? milliseconds : undefined;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** `90d`, or `36h` where it is no whole number of days. */
export function ageText(milliseconds: number): string {
	return milliseconds % DAY === 0 ? `${milliseconds / DAY}d` : `${milliseconds / HOUR}h`;
}

/** Milliseconds that records of finished runs are kept: 90 days. An undo of an older run would hardly find what it wrote. */
export const KEEP_RUNS = 90 * DAY;
