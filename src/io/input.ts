import { usageError } from "../errors.ts";

export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Reads one line that the user types. The end of the input is an empty answer. */
export async function readAnswer(input: Input, signal?: AbortSignal): Promise<string> {
	if (input.isTTY !== true) {
		throw usageError("confirmation is needed, and standard input is no terminal", "Answer with --yes.");
	}
	const { createInterface } = await import("node:readline");
	// Not as a terminal: the terminal itself edits the line then, and Ctrl-C stays a signal.
	const lines = createInterface({ input, terminal: false });
	try {
		return await new Promise<string>((resolve, reject) => {
			lines.once("line", resolve);
			lines.once("close", () => resolve(""));
			const stop = (): void => reject(stopError(signal));
			if (signal?.aborted === true) stop();
			signal?.addEventListener("abort", stop, { once: true });
		});
	} finally {
		lines.close();
	}
}

/** The same bytes until the signal aborts: standard input may stay open without any more bytes. */
export async function* untilStopped(
	bytes: AsyncIterable<Uint8Array>,
	signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
	const reader = bytes[Symbol.asyncIterator]();
	let stop = (): void => undefined;
	const stopped = new Promise<never>((_resolve, reject) => {
		stop = (): void => reject(stopError(signal));
		if (signal.aborted) stop();
		signal.addEventListener("abort", stop, { once: true });
	});
	// It may reject while nothing waits for it.
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

function stopError(signal: AbortSignal | undefined): Error {
	return signal?.reason instanceof Error ? signal.reason : new Error("stopped");
}
