import { RetryLater } from "../retry/retry.ts";
import type { Service } from "../service/service.ts";
import { durationText } from "../stop/reasons.ts";
import type { Memory } from "./operation.ts";

/** How long a service may take at least to store what it was sent after the answer was lost, in milliseconds. */
const SHORTEST = 10_000;

/** Shares of the settle time after which a document is looked for again. The last look comes when all of it is over. */
const LOOKS = [0.1, 0.4, 1];

/** The settle time of a service that may take so many milliseconds for one request. */
export function settleTime(timeout: number): number {
	return Math.max(SHORTEST, timeout);
}

/** Looks for uploads whose answers were lost: a server may still be storing a file whose client has gone. */
export class Settling {
	readonly #service: Service;
	readonly #time: number;
	#isTold = false;

	/** @param timeout of one request, in milliseconds */
	constructor(service: Service, timeout: number) {
		this.#service = service;
		this.#time = settleTime(timeout);
	}

	/**
	 * A look did not show the document. Returns when the settle time is over since the first such look.
	 *
	 * @param age milliseconds since it was sent, where that was before this sitting
	 * @throws RetryLater before that: the row waits, and holds no other row up
	 */
	notFound(memory: Memory, age = 0): void {
		const { clock } = this.#service;
		const isPast = (share: number): boolean => share * this.#time <= age;
		const { since, looks } = (memory.settling ??= {
			since: clock.now() - age,
			looks: LOOKS.filter(isPast).length,
		});
		const share = LOOKS[looks];
		if (share === undefined) return;
		memory.settling = { since, looks: looks + 1 };
		this.#tell();
		throw new RetryLater(Math.max(0, since + share * this.#time - clock.now()));
	}

	#tell(): void {
		if (this.#isTold) return;
		this.#isTold = true;
		const time = durationText(this.#time);
		this.#service.note(
			`What became of an upload is not known: the service may still be storing the file. Each such file is looked for again, for ${time}.`,
		);
	}
}
