import { rowErrorOf } from "../../run/operations/prepare-update.ts";
import { type Change, differenceOf, metadataToSend } from "../../plan/change.ts";
import type { App, Session } from "../../app.ts";
import type { CheckDependencies } from "../../manifest/types.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import { WARN } from "../../run/documents/searches.ts";
import type { Stop } from "../../run/types.ts";
import type { Run } from "../open-run.ts";
import { stopOrSignal } from "../../run/stop/shutdown.ts";

/**
 * Rows of a dataset that are assumed to have such a value, as their number is not known while the manifest is read for the
 * first time. With a hundred documents a page, this lists datasets of up to some hundred thousand documents. Where a single
 * row asks, it reads at most a thousand pages.
 */
const ASSUMED_ROWS = 1_000;

/** Finds values that their documents have already, so that writing them changes nothing. It asks only once a row has one. */
export function presentValues({ session: { service, request }, settings, app }: Run<unknown>, change: Change) {
	const documents = new DocumentSource({
		rows: { get: () => ASSUMED_ROWS },
		folder: () => app.temporaryFolder(settings),
		service,
		doubts: WARN,
	});
	let stop: Stop | undefined;
	const isAlreadyPresent: NonNullable<CheckDependencies["isAlreadyPresent"]> = async (row, key) => {
		// The run ends for another reason than this row, which must not be reported as a problem.
		if (stop !== undefined) return true;
		try {
			const api = await service.known(request);
			const { metadata: held, inexact } = (await documents.byId(api, request, row.datasetId, row.documentId)) ?? {};
			if (held?.has(key) !== true) return false;
			const { normalise } = api.dialect.flavour;
			const wanted = metadataToSend(change, held, row.metadata);
			const { change: changed, remove } = differenceOf(held, wanted, normalise, inexact);
			return !changed.has(key) && !remove.has(key);
		} catch (error) {
			if (rowErrorOf(error) !== undefined) return false;
			stop = stopOrSignal(error, app.signal);
			return true;
		}
	};
	return {
		isAlreadyPresent,
		/** the reason why the present metadata could not be read; then it is unknown whether documents have the values */
		stop: () => stop,
		[Symbol.asyncDispose]: () => documents.close(),
	};
}

/** Two names that are equal to a service that compares without letter case. */
const PROBE = ["a", "A"] as const;

/**
 * How the service compares the names of files. Its flavour is detected if it is unknown, and only if two rows have
 * names that some services treat as equal.
 */
export function nameFoldingCheck({ service, request }: Session, skipsInvalid: boolean, app: App) {
	let stop: Stop | undefined;
	const foldsNames: NonNullable<CheckDependencies["foldsNames"]> = async (problems) => {
		// A manifest that is refused anyway costs no request.
		if (problems > 0 && !skipsInvalid) return false;
		try {
			const { nameKey } = (await service.known(request)).dialect.flavour;
			const [one, other] = PROBE.map(nameKey);
			return one === other;
		} catch (error) {
			stop = stopOrSignal(error, app.signal);
			return false;
		}
	};
	return {
		foldsNames,
		/** the reason why the comparison of names is unknown */
		stop: () => stop,
	};
}
