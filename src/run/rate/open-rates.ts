import { CliError, Exit } from "../../errors.ts";
import { isEverAuto } from "../../rates.ts";
import type { Exchange } from "../../rest/types.ts";
import type { Answered } from "./rate-finder.ts";
import { RateControl, type RateControlOptions } from "./rate-control.ts";
import type { RateMemory } from "./rate-memory.ts";
import { isWorthKeeping } from "./rate-search.ts";

/** The rates of a session, the requests from which one is found, and its end. */
export type OpenRates = {
	readonly rates: RateControl;
	readonly exchanged: (exchange: Exchange) => void;
	/** keeps what was found for the next run at this address */
	readonly close: () => Promise<void>;
};

type OpenRatesOptions = Omit<RateControlOptions, "kept"> & {
	readonly memory: RateMemory;
	/** where a cap that runs share was asked for, `--limiter` or a variable; undefined for none */
	readonly limiterOrigin: string | undefined;
};

/** @throws CliError exit 2 where the rate is to be found, and shared with other runs too */
export async function openRates(options: OpenRatesOptions): Promise<OpenRates> {
	const { memory, setting, clock, limiterOrigin } = options;
	const kept = isEverAuto(setting) ? await memory.load() : undefined;
	if (limiterOrigin !== undefined && isEverAuto(setting)) {
		const number = kept === undefined ? "100" : String(kept.rate);
		throw new CliError(
			`a rate that is looked for (auto) can't be the cap that runs share by ${limiterOrigin}; nothing was sent`,
			{
				exit: Exit.usage,
				hint: `Give the shared cap: --rate ${number}. Or leave ${limiterOrigin} out: then each run looks for its own part.`,
			},
		);
	}
	const rates = new RateControl({ ...options, kept });
	return {
		rates,
		exchanged: (exchange) => {
			if (rates.searched === undefined) return;
			const answer = answerOf(exchange, clock.now());
			if (answer !== undefined) rates.answered(answer);
		},
		close: async () => {
			const { found } = rates;
			if (found !== undefined && isWorthKeeping(found, kept)) await memory.save(found);
		},
	};
}

/** An exchange as an answer at a time; undefined for one that says nothing of the speed: a failure, or none came. */
export function answerOf({ method, status, result, milliseconds }: Exchange, came: number): Answered | undefined {
	const refusal = REFUSALS[result];
	if (status === undefined || (status >= 500 && refusal === undefined)) return undefined;
	return { kind: method === "GET" ? 0 : 1, sent: came - milliseconds, came, refusal };
}

/** The results that ask to slow down. RAGFlow says 429 in an envelope under status 200, too. */
const REFUSALS: Readonly<Record<string, "429" | "503" | undefined>> = {
	HTTP_429: "429",
	CODE_429: "429",
	HTTP_503: "503",
};
