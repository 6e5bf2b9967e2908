import { documented } from "./documented.ts";
import { type Flavour, releaseOf } from "./flavours/index.ts";
import type { Keys } from "./ragflow/key.ts";
import { ragflow } from "./ragflow/dialect.ts";
import type { Dialect } from "./reply.ts";

/** A change of flavour once so many updates were applied: a server that is upgraded while a client works on it. */
export type Upgrade = { readonly to: Flavour; readonly after: number };

/** What the sandbox speaks now. The data know nothing of it, so it can change at any moment. */
export class ActiveFlavour {
	readonly #keys: Keys;
	readonly #upgrade: Upgrade | undefined;
	#updates = 0;
	/** Requests keep the one that they arrived under. */
	dialect: Dialect;

	constructor(flavour: Flavour, keys: Keys, upgrade: Upgrade | undefined) {
		this.#keys = keys;
		this.#upgrade = upgrade;
		this.dialect = this.#dialectOf(flavour);
	}

	become(flavour: Flavour): void {
		this.dialect = this.#dialectOf(flavour);
	}

	/** Called after each update that was committed. */
	updated(): void {
		this.#updates++;
		if (this.#upgrade?.after === this.#updates) this.become(this.#upgrade.to);
	}

	#dialectOf(flavour: Flavour): Dialect {
		const release = releaseOf(flavour);
		return release === undefined ? documented(this.#keys.owner) : ragflow(release, this.#keys);
	}
}
