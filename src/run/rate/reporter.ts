import { RestError } from "../../rest/errors.ts";
import type { Clock } from "../types.ts";
import type { Controller } from "./controller.ts";
import type { RunMonitor } from "./run-monitor.ts";

/** Reports each request: to the controller, from which the rate follows, and to the monitor, which shows the state. */
export class Reporter {
	readonly #controller: Controller;
	readonly #monitor: RunMonitor;
	readonly #clock: Clock;

	constructor(controller: Controller, monitor: RunMonitor, clock: Clock) {
		this.#controller = controller;
		this.#monitor = monitor;
		this.#clock = clock;
	}

	/** A request goes out. @param isFull whether few more may be in flight. @returns the time */
	sent(isFull = false): number {
		const now = this.#clock.now();
		this.#controller.sent(now, isFull);
		this.#monitor.sent();
		return now;
	}

	answered(sent: number): void {
		this.#controller.answered(sent, this.#clock.now());
		this.#monitor.answered(sent);
	}

	/** @returns whether the request was refused as it came too fast */
	failed(sent: number, error: unknown): boolean {
		this.#monitor.failed(sent, error);
		if (!(error instanceof RestError)) return false;
		const [controller, now] = [this.#controller, this.#clock.now()];
		if (error.kind === "throttled") {
			controller.refused(sent, now, error.status === 503 ? "503" : "429");
			return true;
		}
		if (error.status === 503 && error.isForeign) return controller.unavailable(sent, now);
		// A refusal of the row is an answer as any other.
		if (error.kind === "rejected" || error.kind === "contradiction") controller.answered(sent, now);
		else controller.failed(sent, now);
		return false;
	}
}
