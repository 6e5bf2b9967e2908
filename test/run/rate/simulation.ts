import { Controller } from "../../../src/run/rate/controller.ts";
import { chanceOf } from "../../support/chance.ts";

/** What a service makes of a request that arrives: the status, and the milliseconds until its answer leaves. */
export type Service = (now: number) => { readonly status: number; readonly takes: number };

export type Course = {
	/** when each request was sent and answered, in milliseconds, and with which status */
	readonly requests: readonly { readonly sent: number; readonly came: number; readonly status: number }[];
	readonly controller: Controller;
	readonly mostInFlight: number;
	/** when the last row passed, in milliseconds */
	readonly end: number;
	/** requests that cost their row a try */
	readonly tries: number;
	/** rows a second that passed, from one second to another */
	passed(from: number, to: number): number;
	/** the share of requests that were refused, in that time */
	refused(from?: number, to?: number): number;
	/** the mean number in flight from that second on */
	inFlight(from: number): number;
};

/** A service that refuses as nginx's `limit_req` with `nodelay`: a leaky bucket. */
export function leakyBucket(
	rate: (seconds: number) => number,
	status: 429 | 503,
	latency: number,
	burst = 10,
): Service {
	let [excess, last] = [0, Number.NEGATIVE_INFINITY];
	return (now) => {
		const next = Math.max(0, excess - (rate(now / 1000) * (now - last)) / 1000 + 1);
		if (next > burst) return { status, takes: 0.2 };
		[excess, last] = [next, now];
		return { status: 200, takes: latency };
	};
}

/** A service that refuses as HAProxy's `http_req_rate(1s)`: over a sliding second, and what it refuses counts, too. */
export function slidingCounter(rate: number, status: 429 | 503, latency: number): Service {
	let [start, count, before] = [Number.NEGATIVE_INFINITY, 0, 0];
	return (now) => {
		const past = now - start;
		if (past >= 1000) [start, count, before] = past >= 2000 ? [now, 0, 0] : [start + 1000, 0, count];
		count += 1;
		const seen = count + before * (1 - (now - start) / 1000);
		return seen > rate ? { status, takes: 0.2 } : { status: 200, takes: latency };
	};
}

/** A service that takes so many in each second of its clock, and then refuses everything until the next. */
export function eachSecond(rate: number, status: 429 | 503, latency: number): Service {
	let [second, count] = [Number.NEGATIVE_INFINITY, 0];
	return (now) => {
		if (Math.floor(now / 1000) !== second) [second, count] = [Math.floor(now / 1000), 0];
		count += 1;
		return count > rate ? { status, takes: 0.2 } : { status: 200, takes: latency };
	};
}

/** A service that takes so many a second, whatever is in flight: the others queue. */
export function oneByOne(rate: number, way: number): Service {
	let free = 0;
	return (now) => {
		free = Math.max(free, now) + 1000 / rate;
		return { status: 200, takes: free - now + way };
	};
}

/** A service of which a share of the answers fails by chance, half of them 503 and half 502. */
export function failing(share: number, latency: number, seed: number): Service {
	const chance = chanceOf(seed);
	return () => {
		const drawn = chance();
		return { status: drawn >= share ? 200 : drawn < share / 2 ? 503 : 502, takes: latency };
	};
}

/** What the controller makes of a service, in its own time. Requests are spaced as the limiter does, with a little chance. */
export function simulate(
	service: Service,
	{ rows, cap, way = 1, seed = 1 }: { rows: number; cap?: number; way?: number; seed?: number },
): Course {
	const controller = new Controller(cap, 0);
	const chance = chanceOf(seed);
	const coming: { sent: number; came: number; status: number }[] = [];
	const requests: { sent: number; came: number; status: number }[] = [];
	const counts: { at: number; count: number }[] = [];
	let [now, due, left, tries, end, mostInFlight] = [0, 0, rows, 0, 0, 0];
	const take = (until: number): void => {
		for (let first = coming[0]; first !== undefined && first.came <= until; first = coming[0]) {
			coming.shift();
			requests.push(first);
			const { sent, came, status } = first;
			end = came;
			if (status === 200) controller.answered(sent, came);
			else left += 1;
			if (status === 429) controller.refused(sent, came);
			else if (status === 503) tries += controller.unavailable(sent, came) ? 0 : 1;
			else if (status === 502) {
				tries += 1;
				controller.failed(sent, came);
			}
		}
	};
	while (left > 0 || coming.length > 0) {
		take(now);
		if (requests.length > 50 * rows) throw new Error("nearly every request is refused, and it has no end");
		const spacing = 1000 / Math.min(cap ?? 100_000, controller.pace(now) ?? 100_000);
		const mayGo = left > 0 && coming.length < controller.places() && due + spacing <= now;
		if (!mayGo) {
			const next = coming[0]?.came ?? Number.POSITIVE_INFINITY;
			const turn = left > 0 && coming.length < controller.places() ? due + spacing : Number.POSITIVE_INFINITY;
			now = Math.max(now + 0.01, Math.min(next, turn, now + 250));
			continue;
		}
		due = Math.max(due + spacing, now - 25);
		left -= 1;
		controller.sent(now, coming.length + 1 >= 0.8 * controller.places());
		// Timers are late by up to two milliseconds.
		const arrives = now + 2 * chance() + way / 2;
		const { status, takes } = service(arrives);
		const request = { sent: now, came: arrives + takes + way / 2, status };
		let place = coming.length;
		while (place > 0 && (coming[place - 1]?.came ?? 0) > request.came) place -= 1;
		coming.splice(place, 0, request);
		mostInFlight = Math.max(mostInFlight, coming.length);
		counts.push({ at: now, count: coming.length });
	}
	const within = (from: number, to: number): typeof requests =>
		requests.filter(({ sent }) => sent >= from * 1000 && sent < to * 1000);
	return {
		requests,
		controller,
		mostInFlight,
		end,
		tries,
		passed: (from, to) => within(from, to).filter(({ status }) => status === 200).length / (to - from),
		refused: (from = 0, to = Number.POSITIVE_INFINITY) => {
			const all = within(from, to);
			return all.filter(({ status }) => status === 429 || status === 503).length / all.length;
		},
		inFlight: (from) => {
			const later = counts.filter(({ at }) => at >= from * 1000);
			return later.reduce((sum, { count }) => sum + count, 0) / later.length;
		},
	};
}
