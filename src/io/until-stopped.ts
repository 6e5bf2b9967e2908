/** The same bytes, until the user wants to end: standard input that stays open is waited for no longer. */
export async function* untilStopped(
	bytes: AsyncIterable<Uint8Array>,
	signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
	const reader = bytes[Symbol.asyncIterator]();
	let stop = (): void => undefined;
	const stopped = new Promise<never>((_resolve, reject) => {
		stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error("stopped"));
		if (signal.aborted) stop();
		signal.addEventListener("abort", stop, { once: true });
	});
	// It may end while no test reads.
	stopped.catch(() => undefined);
	try {
		for (;;) {
			const next = await Promise.race([reader.next(), stopped]);
			if (next.done === true) return;
			yield next.value;
		}
	} finally {
		signal.removeEventListener("abort", stop);
	}
}
