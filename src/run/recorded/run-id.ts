/** Names of runs: the second they began (UTC), then its milliseconds and chance, in three hexadecimal digits each. */
const form = /^\d{8}T\d{6}-[0-9a-f]{6}$/;

/**
 * A name that sorts by age, so that of two runs begun in one second the later one is the newest.
 *
 * @param now epoch milliseconds
 * @param chance from 0 to 4095
 */
export function runId(now: number, chance: number): string {
	const moment = new Date(now).toISOString().replaceAll(/[-:]|\.\d+Z$/g, "");
	return `${moment}-${hexadecimal(now % 1000)}${hexadecimal(chance)}`;
}

/** Whether a text is the name of a run, and so no path that leads elsewhere. */
export function isRunId(text: string): boolean {
	return form.test(text);
}

function hexadecimal(number: number): string {
	return number.toString(16).padStart(3, "0");
}
