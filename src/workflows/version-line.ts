import type { App } from "../app.ts";
import { VERSION } from "../version.ts";

/** Prints the first line of `--json`, before anything can fail. */
export async function printVersionLine({ io }: App): Promise<void> {
	await io.out(`${JSON.stringify({ type: "version", schema: 1, ragtag: VERSION })}\n`);
}
