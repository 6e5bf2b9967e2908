import type { Dialect } from "./answer.ts";
import { documented } from "./documented/index.ts";
import { type Flavour, releaseOf } from "./flavours/index.ts";
import { ragflow } from "./ragflow/dialect.ts";
import type { Keys } from "./ragflow/key.ts";

/** A change of flavour after `after` updates: a server that is upgraded while a client works on it. */
export type Upgrade = { readonly to: Flavour; readonly after: number };

/** The flavour that the sandbox answers in. The data do not depend on it, so it can change at any moment. */
export class ActiveFlavour {
	readonly #keys: Keys;
	readonly #upgrade: Upgrade | undefined;
	#updates = 0;
	/** A request is answered by the dialect that was active when it arrived. */
	dialect: Dialect;

	constructor(flavour: Flavour, keys: Keys, upgrade: Upgrade | undefined) {
		this.#keys = keys;
		this.#upgrade = upgrade;
		this.dialect = this.#dialectOf(flavour);
	}

	change(flavour: Flavour): void {
		this.dialect = this.#dialectOf(flavour);
	}

	/** Called after each update that was committed. */
	countUpdate(): void {
		this.#updates++;
		if (this.#upgrade?.after === this.#updates) this.change(this.#upgrade.to);
	}

	#dialectOf(flavour: Flavour): Dialect {
		const release = releaseOf(flavour);
		return release === undefined ? documented(this.#keys.owner) : ragflow(release, this.#keys);
	}
}
