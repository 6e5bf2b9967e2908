/** One thing that a write did. `before` is the metadata that an update replaced. */
export type Change =
	| {
			readonly action: "update";
			readonly dataset: string;
			readonly document: string;
			readonly before: string;
			readonly metadata: string;
	  }
	| {
			readonly action: "upload" | "remove";
			readonly dataset: string;
			readonly document: string;
			readonly name?: string;
	  }
	| { readonly action: "create"; readonly dataset: string; readonly name: string };

/** Who is told of what a write does, and may have other metadata stored than were sent. */
export type Listener = {
	readonly note: (change: Change) => void;
	readonly alter: (metadata: string) => string;
};

/**
 * What the store does, told to whoever had the write done.
 *
 * Routes of all flavours write through the same few statements, so here is the one place that sees every change of every
 * flavour. Without a listener it costs nothing.
 */
export class Changes {
	#listener: Listener | undefined;

	get heard(): boolean {
		return this.#listener !== undefined;
	}

	/** Runs `work`, which is synchronous: so what is told meanwhile is of this work and no other. */
	during<Value>(listener: Listener, work: () => Value): Value {
		const outer = this.#listener;
		this.#listener = listener;
		try {
			return work();
		} finally {
			this.#listener = outer;
		}
	}

	note(change: Change): void {
		this.#listener?.note(change);
	}

	alter(metadata: string): string {
		return this.#listener?.alter(metadata) ?? metadata;
	}
}
