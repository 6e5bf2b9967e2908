/** Names of runs: the moment they began (UTC) and six random hexadecimal digits, so that they sort by age. */
const form = /^\d{8}T\d{6}-[0-9a-f]{6}$/;

/**
 * @param now epoch milliseconds
 * @param random six hexadecimal digits
 */
export function runId(now: number, random: string): string {
	const moment = new Date(now).toISOString().replaceAll(/[-:]|\.\d+Z$/g, "");
	return `${moment}-${random}`;
}

/** Whether a text is the name of a run, and so no path that leads elsewhere. */
export function isRunId(text: string): boolean {
	return form.test(text);
}
