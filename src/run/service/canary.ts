import pLimit from "p-limit";
import type { Echo } from "../../rest/types.ts";

/** Consecutive documents that no list shows, after which no update is read back any more. */
const UNLISTED = 3;

/** Rows of one kind that prove little and are read back. The others of that kind are not. */
const SAMPLE = 10;

/**
 * Why a row that is read back proves little. Its document has that metadata already: a form that changes nothing seems right
 * for it. Or it has no metadata: so does a form that loses all metadata.
 */
export type WeakRow = "unchanged" | "cleared";

/** What shows that updates arrive: an update of a run that was read back, with its echo, or that no list shows any. */
type Proof =
	| { readonly of: "nothing" | "no list"; readonly echo?: undefined }
	| { readonly of: "this run" | "an earlier run"; readonly echo: Echo };

/**
 * The facts about the service that the first writes of a run have shown. Until one was read back, a success proves
 * nothing, and writes are serialised.
 */
export class Canary {
	/** runs writes that may be canaries one after another */
	readonly alone = pLimit(1);
	#proof: Proof = { of: "nothing" };
	#unlisted = 0;
	#sample: Readonly<Record<WeakRow, number>> = { unchanged: 0, cleared: 0 };
	/** at most as many at once as are still to be read back */
	readonly #checks = pLimit(SAMPLE);
	/** whether a document was seen to keep, for as long as lists may lag, keys that its update did not have */
	keepsKeys = false;
	/** datasets from which a removal has removed its document, and no other */
	readonly removalsConfirmed = new Set<string>();
	/**
	 * Ids whose removals were sent before one was confirmed in their dataset. That such a document is missing says nothing
	 * about another row's removal, as the answer to its own may have been lost.
	 */
	readonly removalsSent = new Set<string>();
	/** the error of a removal that removed another document too: rows that wait for their turn must not be sent */
	harm: Error | undefined;
	/** whether a list has shown an uploaded document */
	isUploadConfirmed = false;
	/** the ids in the answers to uploads: no two uploads get the same */
	readonly uploads = new Set<string>();

	/** Whether an update's success counts without reading it back. */
	get trustsSuccess(): boolean {
		return this.#proof.of === "this run" || this.#proof.of === "no list";
	}

	/** How the success of the update that was read back named its document; undefined where none was read back. */
	get echo(): Echo | undefined {
		return this.#proof.echo;
	}

	/** Whether no list shows written metadata: then every success counts, and the summary says so. */
	get isUnreadable(): boolean {
		return this.#proof.of === "no list";
	}

	/** Whether a row that proves little was read back. A repeated run has no others. */
	get hasWeakRow(): boolean {
		return this.#sample.unchanged + this.#sample.cleared > 0;
	}

	/** Whether enough rows of that kind were read back: another would prove no more. */
	hasSample(kind: WeakRow): boolean {
		return this.#sample[kind] >= SAMPLE;
	}

	/**
	 * Reads and writes a row that may prove little. A few of these are enough, so no more are begun: the other rows in
	 * flight wait for them.
	 *
	 * @returns the result, or undefined where success counts meanwhile, and nothing was checked
	 */
	async check(row: () => Promise<boolean | undefined>): Promise<boolean | undefined> {
		return this.trustsSuccess ? undefined : this.#checks(async () => (this.trustsSuccess ? undefined : row()));
	}

	#read(sample: Readonly<Record<WeakRow, number>>): void {
		this.#sample = sample;
		const left = SAMPLE - Math.max(sample.unchanged, sample.cleared);
		this.#checks.concurrency = left > 0 ? left : Number.POSITIVE_INFINITY;
	}

	/** A document has what an update sent. */
	confirm(echo: Echo): void {
		this.#proof = { of: "this run", echo };
	}

	/** An earlier run has confirmed it. The first update of this run is still read back, and others wait for it. */
	remembered(echo: Echo): void {
		this.#proof = { of: "an earlier run", echo };
		this.#read({ unchanged: 0, cleared: 0 });
	}

	unreadable(): void {
		this.#proof = { of: "no list" };
	}

	/** No list shows a document that was written. @returns whether that seems true of all documents */
	unlisted(): boolean {
		this.#unlisted += 1;
		return this.#unlisted >= UNLISTED;
	}

	listed(): void {
		this.#unlisted = 0;
	}

	/** A row of that kind was read back, and its document has what was sent. */
	provedLittle(kind: WeakRow): void {
		this.#read({ ...this.#sample, [kind]: this.#sample[kind] + 1 });
		// A repeated run may have no row that changes anything. That documents lose their metadata proves no other row.
		const { echo } = this.#proof;
		if (echo !== undefined && this.hasSample("unchanged")) this.confirm(echo);
	}

	/** The next update is a canary again. */
	revoke(): void {
		this.#proof = { of: "nothing" };
		this.#read({ unchanged: 0, cleared: 0 });
	}
}
