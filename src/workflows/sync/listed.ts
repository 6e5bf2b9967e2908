import type { Metadata } from "../../json/values.ts";
import { differenceOf } from "../../plan/change.ts";
import { metadataHash } from "../../plan/plan-file/planned.ts";
import type { SyncEntry } from "../../plan/sync/state.ts";
import type { KnownDocument, Retag, WantedFile } from "../../plan/sync/steps.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import { wholeList } from "../../run/documents/list.ts";
import { MARK } from "../../run/documents/searches.ts";
import { show } from "../../text/show.ts";
import type { Run } from "../open-run.ts";

/** A document that the state does not know. */
export type OtherDocument = KnownDocument & { readonly size: number | undefined };

/** A dataset as a sync sees it. */
export type ListedDataset = {
	/** all of them */
	readonly count: number;
	/** whether any shows metadata */
	readonly isTagged: boolean;
	/** those that the state knows, by their ids */
	readonly known: ReadonlyMap<string, KnownDocument>;
	/** those that it does not know and that have the name of a file, by that name */
	readonly namesakes: ReadonlyMap<string, readonly OtherDocument[]>;
	readonly retag: Retag;
};

type Held = { readonly metadata: Metadata; readonly inexact: InexactValues | undefined; readonly was: string };

/**
 * Reads the list of the dataset once. Metadata is held only of documents whose files give some.
 *
 * @throws RestError where the list stays short
 */
export async function listDataset(
	{ session, app }: Run<unknown>,
	datasetId: string,
	entries: Iterable<SyncEntry>,
	{ files, adopts }: { readonly files: readonly WantedFile[]; readonly adopts: boolean },
): Promise<ListedDataset> {
	const { service, request } = session;
	const api = await service.known(request);
	const { normalise } = api.dialect.flavour;
	const names = new Set(files.map(({ name }) => name.normalize()));
	const ids = new Set(Array.from(entries, ({ documentId }) => documentId));
	const isWanted = files.some(({ metadata }) => metadata.size > 0);
	const known = new Map<string, KnownDocument>();
	const held = new Map<string, Held>();
	const namesakes = new Map<string, OtherDocument[]>();
	let count = 0;
	let isTagged = false;
	app.monitor.enter("reading", "the documents of the dataset");
	for await (const document of wholeList(api, service.searches.believing(request, MARK), datasetId)) {
		count += 1;
		app.monitor.count({ done: count, unit: "documents" });
		const { id, name, size, metadata = new Map(), inexact } = document;
		isTagged ||= metadata.size > 0;
		const key = name.normalize();
		const isKnown = ids.has(id);
		if (!isKnown && !names.has(key)) continue;
		const was = metadataHash(metadata, inexact);
		if (isWanted && (isKnown || adopts)) held.set(id, { metadata, inexact, was });
		if (isKnown) known.set(id, { id, name, was });
		else namesakes.set(key, [...(namesakes.get(key) ?? []), { id, name, was, size }]);
	}
	const retag: Retag = (id, wanted) => {
		const has = held.get(id);
		if (has === undefined) return undefined;
		const { metadata: present, inexact, was } = has;
		// Keys that the file does not give are kept.
		const metadata = new Map([...present, ...wanted]);
		const difference = differenceOf(present, metadata, normalise, inexact);
		if (difference.add.size + difference.change.size === 0) return undefined;
		const kept = [...(inexact?.keys() ?? [])].find((key) => !wanted.has(key));
		if (kept !== undefined)
			return { fault: `its document has ${show(kept)}, a number that can't be sent exactly; nothing was sent` };
		return { was, metadata, difference };
	};
	return { count, isTagged, known, namesakes, retag };
}
