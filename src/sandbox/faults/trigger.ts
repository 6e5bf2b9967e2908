import type { RequestInfo } from "./request-info.ts";
import type { PlanParams } from "./plan-params.ts";

const any = { least: 1, most: Number.MAX_SAFE_INTEGER };

/** Which requests a fault is meant for. Requests are counted from 1 among those that method, path and document fit. */
export type Trigger = {
	readonly fits: (asked: RequestInfo) => boolean;
	/** whether it is the `count`-th's turn; draws one number where there is a probability */
	readonly turn: (count: number, random: () => number) => boolean;
	/** firings at most */
	readonly times: number;
	/** how often it is bound to fire when enough requests come; `undefined` where that is left to chance or to them */
	readonly planned: number | undefined;
};

/** Reads the member `on`, all of whose members must hold. */
export function triggerOf(on: PlanParams): Trigger {
	const method = on.maybeText("method")?.toUpperCase();
	const path = patternOf(on);
	const document = on.maybeText("document");
	const nth = on.integers("nth", any);
	const every = on.maybeInteger("every", any);
	const from = on.integer("from", 1, any);
	const to = on.integer("to", Number.MAX_SAFE_INTEGER, any);
	const probability = on.fraction("probability");
	const times = on.maybeInteger("times", any);
	if (from > to) throw on.wrong('has a "from" after its "to"');
	on.end();
	return {
		fits: (asked) =>
			(method === undefined || asked.method === method) &&
			(path === undefined || path.test(asked.path)) &&
			(document === undefined || asked.document === document),
		turn(count, random) {
			// Drawn for each, whatever else holds: so the n-th request always meets the n-th number.
			const drawn = probability === undefined || random() < probability;
			const listed = nth === undefined || nth.includes(count);
			return drawn && listed && count >= from && count <= to && (count - from + 1) % (every ?? 1) === 0;
		},
		times: times ?? Number.MAX_SAFE_INTEGER,
		planned: probability === undefined ? smaller(nth?.length, times) : undefined,
	};
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
	return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function patternOf(on: PlanParams): RegExp | undefined {
	const text = on.maybeText("path");
	try {
		return text === undefined ? undefined : new RegExp(text);
	} catch {
		throw on.wrong('has a "path" that is not a regular expression');
	}
}
