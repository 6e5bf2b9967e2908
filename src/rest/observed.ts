import { headerValues, type RawAnswer } from "./answer.ts";
import { RestError } from "./errors.ts";
import type { Call } from "./transport.ts";
import type { Exchange } from "./types.ts";

export type Send = <Result>(call: Call<Result>) => Promise<Result>;

/**
 * A way to send that tells an observer of each request at its end.
 *
 * @param isWatched whether the observer wants a request that begins now; without it, the observer gets every request
 */
export function observed(
	send: Send,
	observe: (exchange: Exchange) => void,
	isWatched: (() => boolean) | undefined,
): Send {
	const watched = watchedBy(send, observe);
	return isWatched === undefined ? watched : (call) => (isWatched() ? watched(call) : send(call));
}

function watchedBy(send: Send, observe: (exchange: Exchange) => void): Send {
	return async (call) => {
		const { method, path, isProbe } = call;
		const started = performance.now();
		let answer: RawAnswer | undefined;
		const note = (result: string): void =>
			observe({
				method,
				path,
				status: answer?.status,
				result,
				milliseconds: performance.now() - started,
				date: () => (answer === undefined ? undefined : headerValues(answer.headers, "date")[0]),
			});
		const read = (came: RawAnswer): ReturnType<typeof call.read> => {
			answer = came;
			return call.read(came);
		};
		try {
			const result = await send({ ...call, read });
			note(isProbe === true ? String(result) : "ok");
			return result;
		} catch (error) {
			note(error instanceof RestError ? error.code : "aborted");
			throw error;
		}
	};
}
