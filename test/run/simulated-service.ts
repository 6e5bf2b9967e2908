import { newSearch, observe } from "../../src/run/rate/concurrency-search.ts";
import { chanceOf } from "../support/chance.ts";

/** A number from 0 up to but not including 1. */
type Chance = () => number;

export type Simulated = {
	/** requests that it works on at a time; the others queue */
	readonly workers: number;
	/** milliseconds that it works on one, at that time */
	readonly work: (chance: Chance, now: number) => number;
	/** milliseconds on the way, there and back */
	readonly way?: number;
	/** requests a second that the client may begin */
	readonly cap?: number;
};

export type Seen = {
	/** when each answer came, and how many requests were in flight when each was sent, in milliseconds */
	readonly answers: readonly number[];
	readonly inFlight: readonly { readonly at: number; readonly count: number }[];
	/** answers a second from one second to another */
	rate(from: number, to: number): number;
	/** how many were in flight, typically, from that second on */
	typical(from: number): number;
};

/** Work that always takes as long; that takes as long on average, by the law of waiting; and with a long tail. */
export const steady =
	(mean: number): Simulated["work"] =>
	() =>
		mean;
export const exponential =
	(mean: number): Simulated["work"] =>
	(chance) =>
		-mean * Math.log(1 - chance());
export const lognormal =
	(mean: number, sigma: number): Simulated["work"] =>
	(chance) => {
		const normal = Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
		return mean * Math.exp(sigma * normal - (sigma * sigma) / 2);
	};

/** What a search makes of a service, in its own time: `seconds` of it take none. The same seed gives the same course. */
export function simulate({ workers, work, way = 0, cap }: Simulated, seconds: number, seed: number): Seen {
	const chance = chanceOf(seed);
	const events: { at: number; run: () => void }[] = [];
	const answers: number[] = [];
	const sends: { at: number; count: number }[] = [];
	const queue: (() => void)[] = [];
	let search = newSearch();
	let [now, taken, inFlight, busy, nextToken] = [0, 0, 0, 0, 0];
	const after = (milliseconds: number, run: () => void): void => {
		const at = now + milliseconds;
		let place = events.length;
		while (place > 0 && (events[place - 1]?.at ?? 0) < at) place -= 1;
		events.splice(place, 0, { at, run });
	};
	const begin = (): void => {
		for (; taken < search.limit; taken += 1) {
			const at = cap === undefined ? now : Math.max(now, nextToken);
			nextToken = at + 1000 / (cap ?? Number.POSITIVE_INFINITY);
			after(at - now, send);
		}
	};
	const send = (): void => {
		const [sent, count] = [now, (inFlight += 1)];
		sends.push({ at: sent, count });
		const answered = (): void => {
			inFlight -= 1;
			taken -= 1;
			answers.push(now);
			search = observe(search, { sent, came: now, inFlight: count });
			begin();
		};
		const worked = (): void => {
			busy -= 1;
			after(way / 2, answered);
			queue.shift()?.();
		};
		const start = (): void => {
			busy += 1;
			after(work(chance, now), worked);
		};
		after(way / 2, () => void (busy < workers ? start() : queue.push(start)));
	};
	begin();
	for (let next = events.pop(); next !== undefined && next.at < seconds * 1000; next = events.pop()) {
		now = next.at;
		next.run();
	}
	return {
		answers,
		inFlight: sends,
		rate: (from, to) => answers.filter((at) => at >= from * 1000 && at < to * 1000).length / (to - from),
		typical: (from) => {
			const counts = sends.filter(({ at }) => at >= from * 1000).map(({ count }) => count);
			return counts.toSorted((one, other) => one - other)[Math.floor(counts.length / 2)] ?? Number.NaN;
		},
	};
}
