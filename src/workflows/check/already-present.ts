import type { App, Session, Settings } from "../../app.ts";
import type { CheckDependencies } from "../../manifest/types.ts";
import { differenceOf } from "../../plan/change.ts";
import { type UpdatePlan, rowErrorOf } from "../../run/operations/prepare-update.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import type { Stop } from "../../run/types.ts";
import { stopOrSignal } from "../stop-from-error.ts";

/**
 * Rows of a dataset that are taken to have such a value. While the manifest is read for the first time, nobody knows how
 * many there are: where one page of a list has a hundred documents, this lists datasets of up to some hundred thousand,
 * and where a single row asks, it looks at no more than a thousand pages.
 */
const ASSUMED_ROWS = 1_000;

export type Excuses = {
	readonly excuse: NonNullable<CheckDependencies["excuse"]>;
	/** why the service could not say what documents have: then nothing is known of the values that were asked about */
	stop(): Stop | undefined;
	close(): Promise<void>;
};

/** Excuses values that would leave what their document has as it is. Only the first such value causes a request. */
export function presentExcuses(
	{ metadataToSend }: Pick<UpdatePlan, "metadataToSend">,
	{ service, request }: Session,
	settings: Settings,
	app: App,
): Excuses {
	const present = new DocumentSource({
		rows: async () => ({ get: () => ASSUMED_ROWS }),
		folder: () => app.temporaryFolder(settings),
		clock: app.clock,
	});
	let stop: Stop | undefined;
	return {
		async excuse({ datasetId, documentId, metadata: wanted }, key) {
			// The run ends for another reason than this row: it must not be told as a problem.
			if (stop !== undefined) return true;
			try {
				const api = await service.known(request);
				const { metadata: held, inexact } = (await present.byId(api, request, datasetId, documentId)) ?? {};
				if (held?.has(key) !== true) return false;
				const { normalise } = api.dialect.flavour;
				const { change, remove } = differenceOf(held, metadataToSend(held, wanted), normalise, inexact);
				return !change.has(key) && !remove.has(key);
			} catch (error) {
				if (rowErrorOf(error) !== undefined) return false;
				stop = stopOrSignal(error, app.signal);
				return true;
			}
		},
		stop: () => stop,
		close: () => present.close(),
	};
}
