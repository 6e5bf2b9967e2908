import type { RequestInfo } from "./fault.ts";
import type { PlanParams } from "./plan-params.ts";

/** Which requests a fault fires for. Requests are counted from 1 among those that method, path and document fit. */
export type Trigger = {
	readonly fits: (request: RequestInfo) => boolean;
	/** whether it fires for the `count`-th request that fits; draws one number where there is a probability */
	readonly fires: (count: number, random: () => number) => boolean;
	/** firings at most */
	readonly times: number;
	/** how often it fires if enough requests come; `undefined` where that depends on chance or on their number */
	readonly planned: number | undefined;
};

const fromOne = { least: 1, most: Number.MAX_SAFE_INTEGER };

/** Reads the member `on`, all of whose members must hold. */
export function triggerOf(on: PlanParams): Trigger {
	const method = on.optionalText("method")?.toUpperCase();
	const path = pathPattern(on);
	const document = on.optionalText("document");
	const nth = on.integers("nth", fromOne);
	const every = on.optionalInteger("every", fromOne);
	const from = on.integer("from", 1, fromOne);
	const to = on.integer("to", Number.MAX_SAFE_INTEGER, fromOne);
	const probability = on.fraction("probability");
	const times = on.optionalInteger("times", fromOne);
	if (from > to) throw on.error('has a "from" after its "to"');
	on.refuseUnknown();
	return {
		fits: (request) =>
			(method === undefined || request.method === method) &&
			(path === undefined || path.test(request.path)) &&
			(document === undefined || request.document === document),
		fires(count, random) {
			// Drawn for each request, whatever else holds: so the n-th request always gets the n-th number.
			const drawn = probability === undefined || random() < probability;
			const listed = nth === undefined || nth.includes(count);
			return drawn && listed && count >= from && count <= to && (count - from + 1) % (every ?? 1) === 0;
		},
		times: times ?? Number.MAX_SAFE_INTEGER,
		planned: probability === undefined ? smaller(nth?.length, times) : undefined,
	};
}

function pathPattern(on: PlanParams): RegExp | undefined {
	const text = on.optionalText("path");
	try {
		return text === undefined ? undefined : new RegExp(text);
	} catch {
		throw on.error('has a "path" that is not a regular expression');
	}
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
	return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
