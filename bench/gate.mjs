// A limit in front of a service, as a proxy keeps it: what comes too fast is refused, with a page that is not the API's.

/** Statuses and their reasons, as nginx names them. */
const REASONS = { 429: "Too Many Requests", 502: "Bad Gateway", 503: "Service Temporarily Unavailable" };

/**
 * The leaky bucket of nginx's `limit_req` with `burst` and `nodelay`, and answers that fail by chance.
 *
 * All members may be left out: `rate` is requests a second, without it nothing is refused; `burst` is how many may come early;
 * `status` answers a refused one; `changes` are new rates, `{ after, rate }` with the seconds since the first update; `failing`
 * is the share of answers that fail, half of them 502 and half 503.
 */
export class Gate {
	#options;
	#excess = 0;
	#last;
	#first;
	#random = randomNumbers(7);
	/** of each update: milliseconds of the server's clock, and the status */
	updates = [];

	constructor({ rate, burst = 10, status = 503, changes = [], failing = 0 } = {}) {
		this.#options = { rate, burst, status, changes, failing };
	}

	/** The status of an update that arrives at that time: 200 to let it pass. */
	status(now) {
		this.#first ??= now;
		const status = this.#statusAt(now);
		this.updates.push([now, status]);
		return status;
	}

	#statusAt(now) {
		const { rate: first, burst, status, changes, failing } = this.#options;
		if (first !== undefined) {
			const seconds = (now - this.#first) / 1000;
			const rate = changes.findLast(({ after }) => seconds >= after)?.rate ?? first;
			const elapsed = now - (this.#last ?? Number.NEGATIVE_INFINITY);
			const excess = Math.max(0, this.#excess - (rate * elapsed) / 1000 + 1);
			if (excess > burst) return status;
			this.#excess = excess;
			this.#last = now;
		}
		const chance = this.#random();
		if (chance >= failing) return 200;
		return chance < failing / 2 ? 503 : 502;
	}
}

/** An HTTP response of that status with the page that nginx shows for it. No Retry-After. */
export function pageOf(status) {
	const title = `${status} ${REASONS[status]}`;
	const text = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n</body>\r\n</html>\r\n`;
	return `HTTP/1.1 ${title}\r\nContent-Type: text/html\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

/** Numbers from 0 to below 1 that are the same in every run (mulberry32). */
function randomNumbers(seed) {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
