import type { App, Session } from "../../app.ts";
import { stepped } from "../../rates.ts";

type Followed = {
	readonly session: Pick<Session, "rates">;
	readonly app: Pick<App, "io" | "keys" | "timers">;
};

/** Milliseconds: a run that is over within it needs no keys. */
const KEYS_AFTER_MS = 1000;

/** Lets keys change the rate of a run, and pause it, until the returned function is called. Only while a bar is shown. */
export function followKeys({ session: { rates }, app }: Followed): () => void {
	const { io } = app;
	const stop = io.hasBar
		? app.keys()?.listen((key) => {
				if (key === "p") return rates.isPaused ? rates.continue("keys") : rates.pause("keys");
				if (rates.rate === undefined) return io.note("The rate has no cap: ragtag runs adjust --rate N gives it one.");
				return rates.changeForNow(stepped(rates.rate, key === "+" ? "up" : "down"), "keys");
			})
		: undefined;
	if (stop === undefined) return () => undefined;
	const cancel = app.timers.every(KEYS_AFTER_MS, () => {
		cancel();
		io.note("Keys: + and - change the rate, p pauses and continues.");
	});
	return () => {
		cancel();
		stop();
	};
}
