import { Expired } from "../classify-failure.ts";

/** Gives up waiting after `milliseconds`, or when the signal aborts: a look-up can't be cancelled, but left behind. */
export async function withTimeout<Value>(
	promise: Promise<Value>,
	milliseconds: number,
	signal: AbortSignal,
): Promise<Value> {
	const leave = new AbortController();
	try {
		return await Promise.race([
			promise,
			new Promise<never>((_, reject) => {
				const timer = setTimeout(() => reject(new Expired("no answer in time")), milliseconds);
				leave.signal.addEventListener("abort", () => clearTimeout(timer));
				// The contract is to reject with the signal's reason, which need not be an Error.
				const stop = (): void => reject(signal.reason);
				if (signal.aborted) stop();
				signal.addEventListener("abort", stop, { signal: leave.signal });
			}),
		]);
	} finally {
		leave.abort();
	}
}
