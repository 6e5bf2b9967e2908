import { Exit } from "../errors.ts";
import { showsMetadata } from "../run/documents/before-images.ts";
import type { Stop } from "../run/types.ts";
import { show } from "../text/show.ts";
import type { ServiceFlags } from "../flags/flags.ts";
import type { Run } from "./open-run.ts";
import { endBefore, type ReportContext } from "./report.ts";
import type { RowSource } from "./rows/row-source.ts";
import { stopOrSignal } from "../run/stop/shutdown.ts";

type Reader = Pick<Run<ServiceFlags>, "session" | "app">;

/**
 * Ends a command that must compare rows with their documents, if the service lists no metadata. One dataset is read, that of the
 * first row: every list of a service shows metadata, or none does.
 *
 * @param what the flag that needs the comparison; undefined where none does
 * @throws EarlyEnd
 */
export async function endIfMetadataHidden(
	run: Run<ReportContext["flags"]>,
	rows: RowSource,
	what: string | undefined,
): Promise<void> {
	const stop = what === undefined ? undefined : await stopIfMetadataHidden(run, rows, what);
	if (stop !== undefined) endBefore(run, rows, stop);
}

/** The reason to stop if the service lists no metadata. `what` is the flag or command that compares. */
export async function stopIfMetadataHidden(
	{ session, app }: Reader,
	source: Pick<RowSource, "read">,
	what: string,
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
		// Each row reports a dataset that does not exist.
		return stop.exit === Exit.failedRows ? undefined : stop;
	}
}
