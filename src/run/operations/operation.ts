import type { Metadata } from "../../json/values.ts";
import type { RestError } from "../../rest/errors.ts";
import type { Request } from "../types.ts";
import type { BeforeImage } from "../documents/before-images.ts";
import type { Service } from "../service/service.ts";
import type { WriteMemory } from "../service/write.ts";
import type { RowStatus, Work } from "../types.ts";

/** What a successful try of a row came to. */
export type Settled = {
	readonly status: Exclude<RowStatus, "failed">;
	readonly documentId: string;
	readonly storedName?: string;
	/** it was sent, and the document had it already */
	readonly isSame?: boolean;
};

/** What a row's tries remember of each other: a retry must not repeat a step that is not to be repeated. */
export type Memory = WriteMemory & {
	/** an upload's document, once it is stored */
	stored?: { readonly id: string; readonly name: string } | undefined;
	/** ids of the documents that had an upload's name before it was sent */
	namesakes?: readonly string[];
	/** what goes out was written down, in this execution */
	isLogged?: boolean;
	/** what the document had before the first try: a later look may see what an earlier try wrote */
	image?: BeforeImage;
	/** the metadata that was written down last: a merge that was looked at anew may send another */
	logged?: Metadata;
	/** an upload was sent, and its answer does not say whether it was stored; `definite` where it says that it was not */
	maybeStored?: { readonly error: RestError; readonly definite: boolean };
	/** how often such an upload was looked for in vain, and since when, by the run's clock */
	settling?: { readonly since: number; readonly looks: number };
	/** an upload was sent that is to be looked for first: what answered may have passed it on, or it was not seen yet */
	isPutOff?: boolean;
	/** a document that must not go with the one that is removed */
	neighbour?: string | undefined;
	/** a removal may have been applied although its answer was lost */
	maybeRemoved?: boolean;
};

/** Whether anything that the tries of a row sent may have been applied. */
export function mayHaveArrived(memory: Memory): boolean {
	const { sentAs, maybeWritten, stored, maybeStored, isPutOff, maybeRemoved } = memory;
	if (stored !== undefined || maybeStored !== undefined) return true;
	if (maybeWritten === true || isPutOff === true || maybeRemoved === true) return true;
	return sentAs !== undefined && sentAs.size > 0;
}

/**
 * One try of one row. Every request in it goes through `request`, so that each takes its own token.
 *
 * @throws RestError, which the engine decides about
 * @throws RetryLater where only time can tell what became of what was sent
 */
export type Operation<Item extends Work> = (item: Item, request: Request, memory: Memory) => Promise<Settled>;

/**
 * The same operation, begun anew where any answer in it shows that the service is of another flavour: that costs its row
 * nothing. What the try did before is in `memory`, so no step is done twice that must not be.
 */
export function anew<Item extends Work>(service: Service, operation: Operation<Item>): Operation<Item> {
	return (item, request, memory) => {
		const work = (): Promise<Settled> => operation(item, request, memory);
		// A flavour that was given is not doubted for what a list or an upload says: that may be about the row alone.
		return service.recognition?.origin === "given" ? work() : service.speaking(request, work);
	};
}
