import type { App, Session } from "../../app.ts";
import { foldedName } from "../../text/names.ts";
import type { CheckDependencies } from "../../manifest/types.ts";
import type { Stop } from "../../run/types.ts";
import { stopOrSignal } from "../stop-from-error.ts";

/** Two names that are one text to a service which compares without letter case. */
const PROBE = ["a", "A"] as const;

export type AlikeNames = {
	readonly alike: NonNullable<CheckDependencies["alike"]>;
	/** why the service could not say how it compares names */
	stop(): Stop | undefined;
};

/**
 * How the service compares the names of files. It is asked for its flavour where that is not known, and only where two rows
 * have names that some services take for one.
 */
export function alikeNames({ service, request }: Session, skipsInvalid: boolean, app: App): AlikeNames {
	let stop: Stop | undefined;
	return {
		alike: {
			keyOf: foldedName,
			async applies(problems) {
				// A manifest that is refused anyway costs no request.
				if (problems > 0 && !skipsInvalid) return false;
				try {
					const { nameKey } = (await service.known(request)).dialect.flavour;
					const [one, other] = PROBE.map(nameKey);
					return one === other;
				} catch (error) {
					stop = stopOrSignal(error, app.signal);
					return false;
				}
			},
		},
		stop: () => stop,
	};
}
