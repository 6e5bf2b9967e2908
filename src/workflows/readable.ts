import type { App, Session } from "../app.ts";
import { Exit } from "../errors.ts";
import { showsMetadata } from "../run/documents/before-images.ts";
import type { Stop } from "../run/types.ts";
import { show } from "../text/show.ts";
import { stopOrSignal } from "./stop-from-error.ts";
import type { RowSource } from "./rows/row-source.ts";

/**
 * Why what documents have can't be compared with anything, or undefined where it can. `what` is the flag or the command
 * that compares.
 *
 * Looked at once, in the dataset of the first row: what a list shows is a property of the service.
 */
export async function unreadable(
	what: string,
	source: Pick<RowSource, "read">,
	session: Session,
	flags: { readonly maxOutage?: number },
	app: App,
	hint = what.startsWith("--")
		? `Leave ${what} out: the service does not show what its documents have.`
		: "The service does not show what its documents have; docs tag writes without reading it.",
): Promise<Stop | undefined> {
	try {
		for await (const { datasetId } of source.read()) {
			if (await showsMetadata(session.service, session.request, datasetId)) return undefined;
			return {
				exit: Exit.usage,
				text: `the list of dataset ${show(datasetId)} shows no metadata, so ${what} has nothing to compare with; nothing was sent`,
				hint,
			};
		}
		return undefined;
	} catch (error) {
		const stop = stopOrSignal(error, app.signal);
		if (app.signal.aborted) return stop;
		// A dataset that is not there is said row by row, and the run sits an outage out where it was told to.
		const isLeftToTheRun = stop.exit === Exit.failedRows || flags.maxOutage !== undefined;
		return isLeftToTheRun ? undefined : stop;
	}
}
