import type { Seen } from "./rate-search.ts";

/** Milliseconds: the shortest and the longest time until a rate is judged, and how many times the latency it is at least. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 10_000;
const LATENCIES = 3;

/** Answers that say something about the latency of one kind of request. */
const ENOUGH = 8;

/** Growth of the least latency with each epoch that is not slow: what is called the least must not be a chance of long ago. */
const FORGETS = 1.005;

/** Kinds of requests, whose latencies differ: those that read, and those that write. */
export type RequestKind = 0 | 1;

/** Sums over the answers of one kind: their number, milliseconds, and logarithms of them. */
type Sums = { count: number; logs: number };

/** What is seen at one rate. A mean of logarithms is moved little by a single long answer. */
export class RateEpoch {
	readonly since: number;
	readonly #least: Map<RequestKind, number>;
	/** of requests that were sent at this rate */
	readonly #own = noAnswers();
	/** of requests that were sent before: all that is seen where a service takes longer than an epoch */
	readonly #late = noAnswers();

	/** @param since when the rate began, in milliseconds */
	constructor(since: number, before?: RateEpoch) {
		this.since = since;
		this.#least = before === undefined ? new Map<RequestKind, number>() : before.#least;
	}

	/** An answer came. @param sent when its request was sent, and when it `came`, in milliseconds */
	answered(kind: RequestKind, sent: number, came: number): void {
		const sums = (sent < this.since ? this.#late : this.#own)[kind];
		sums.count += 1;
		sums.logs += Math.log(Math.max(came - sent, Number.MIN_VALUE));
	}

	/** Whether the rate has lasted long enough to be judged. */
	isOver(now: number): boolean {
		const lasted = now - this.since;
		if (lasted < SHORTEST_MS) return false;
		const { count, latency } = allOf(this.#own);
		if (count >= ENOUGH && lasted >= LATENCIES * latency) return true;
		return lasted >= LONGEST_MS && count + allOf(this.#late).count >= ENOUGH;
	}

	/** Requests a second that were answered so far; undefined where the time is too short to say. */
	answeredUntil(now: number): number | undefined {
		const { count, latency } = allOf(this.#own);
		const lasted = now - this.since - latency;
		return lasted < SHORTEST_MS / 2 ? undefined : (count * 1000) / lasted;
	}

	/** What was seen until now. */
	seen(now: number): Seen {
		const isLate = allOf(this.#own).count < ENOUGH;
		const kinds = isLate ? this.#late : this.#own;
		const lasted = now - this.since;
		let [count, logs, longer] = [0, 0, 0];
		for (const kind of KINDS) {
			const answers = kinds[kind].count;
			const typical = typicalOf(kinds[kind]);
			const lowest = this.#least.get(kind) ?? typical;
			if (answers < ENOUGH) continue;
			this.#least.set(kind, Math.min(lowest * FORGETS, typical));
			count += answers;
			logs += answers * Math.log(typical / lowest);
			longer += answers * (typical - lowest);
		}
		const known = Math.max(1, count);
		const answered = isLate ? (allOf(kinds).count * 1000) / lasted : this.answeredUntil(now);
		return { seconds: lasted / 1000, answered: answered ?? 0, growth: Math.exp(logs / known), longer: longer / known };
	}

	/** The latency of this epoch is what is normal from now on. */
	takeAsLeast(): void {
		for (const kind of KINDS) if (this.#own[kind].count >= ENOUGH) this.#least.set(kind, typicalOf(this.#own[kind]));
	}
}

const KINDS: readonly RequestKind[] = [0, 1];

type Kinds = readonly [Sums, Sums];

function noAnswers(): Kinds {
	return [
		{ count: 0, logs: 0 },
		{ count: 0, logs: 0 },
	];
}

function typicalOf({ count, logs }: Sums): number {
	return count === 0 ? 0 : Math.exp(logs / count);
}

/** Answers of all kinds, and their typical latency. */
function allOf([reads, writes]: Kinds): { readonly count: number; readonly latency: number } {
	const all = { count: reads.count + writes.count, logs: reads.logs + writes.logs };
	return { count: all.count, latency: typicalOf(all) };
}
