import type { Bar } from "./progress.ts";
import type { Output } from "./writer.ts";

/** Whether ora can draw. It divides by the terminal's columns, and with 0 columns it clears lines for ever. */
export const canDraw = (stream: Output): boolean => "cursorTo" in stream && stream.columns !== 0;

/**
 * ora on a stream. Its use of the process is turned off: it would be silent if `CI` is set, take over standard input, and
 * install signal handlers to show the cursor again. While it spins, it redraws itself below other lines.
 */
export async function barOn(stream: Output, unicode: boolean): Promise<Bar> {
	const [{ default: ora }, { default: width }] = await Promise.all([import("ora"), import("string-width")]);
	const options = { isEnabled: true, color: false, discardStdin: false, hideCursor: false, interval: 100 } as const;
	const spinner = ora({ stream, spinner: unicode ? "dots" : "line", ...options });
	return { spinner, widthOf: (text) => width(text) };
}
