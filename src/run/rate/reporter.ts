import { RestError } from "../../rest/errors.ts";
import type { Clock } from "../types.ts";
import type { Controller } from "./controller.ts";
import type { RunMonitor } from "./run-monitor.ts";

/** Reports each request: to the controller, from which the rate follows, and to the monitor, which shows the state. */
export type Reporter = ReturnType<typeof reporterTo>;

export function reporterTo(controller: Controller, monitor: RunMonitor, clock: Clock) {
	return {
		/** A request goes out. @param isFull whether few more may be in flight. @returns the time */
		sent: (isFull = false): number => {
			const now = clock.now();
			controller.sent(now, isFull);
			monitor.sent();
			return now;
		},
		answered: (sent: number): void => {
			controller.answered(sent, clock.now());
			monitor.answered(sent);
		},
		/** @returns whether the request was refused as it came too fast */
		failed: (sent: number, error: unknown): boolean => {
			monitor.failed(sent, error);
			const now = clock.now();
			if (!(error instanceof RestError)) return false;
			if (error.kind === "throttled") {
				controller.refused(sent, now, error.status === 503 ? "503" : "429");
				return true;
			}
			if (error.status === 503 && error.isForeign) return controller.unavailable(sent, now);
			// A refusal of the row is an answer as any other.
			if (error.kind === "rejected" || error.kind === "contradiction") controller.answered(sent, now);
			else controller.failed(sent, now);
			return false;
		},
	};
}
