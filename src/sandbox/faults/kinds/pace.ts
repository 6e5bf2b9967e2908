import type { EncodedAnswer } from "../draft.ts";
import { both, bytes, type FaultContext, type FaultKind, milliseconds, type Sent } from "../fault.ts";
import type { Change } from "../../store/writes.ts";
import type { PlanParams } from "../plan-params.ts";

/** Milliseconds between two pieces at a limited bandwidth. Longer pauses would make bursts. */
const bandwidthTick = 20;

/** True answers that are slow. */
export const paceKinds = {
	delay: {
		summary: "the true answer that many milliseconds late, and at random up to jitter more",
		parameters: "milliseconds=1000, jitter=0",
		when: both,
		create: (params) => {
			const wait = randomWait(params);
			return {
				send: async (answer, context) => {
					await context.channel.wait(wait(context.random));
					return inPieces(answer, context, Number.MAX_SAFE_INTEGER, 0);
				},
			};
		},
	},
	busy: {
		summary: "changes hold the server: it does nothing else until they are done, one request after another",
		parameters:
			"milliseconds=1000 for the first change of a request, microseconds=0 for each further one; which=all|first-metadata",
		when: ["after"],
		create: (params) => {
			const first = params.integer("milliseconds", 1000, milliseconds);
			const further = params.integer("microseconds", 0, { least: 0, most: 1_000_000 });
			const which = params.choice("which", ["all", "first-metadata"]);
			return {
				holdsFor: (changes) => {
					const slow = which === "all" ? changes : changes.filter(isFirstMetadata);
					return slow.length === 0 ? 0 : first + ((slow.length - 1) * further) / 1000;
				},
			};
		},
	},
	late: {
		summary: "the request is applied that many milliseconds late, even after the client has closed the connection",
		parameters: "milliseconds=1000, jitter=0",
		when: ["after"],
		create: (params) => {
			const wait = randomWait(params);
			return { writeDelay: ({ random }) => wait(random) };
		},
	},
	drip: {
		summary: "the true answer in small pieces with pauses; with forever=true it never ends",
		parameters: "milliseconds=100 between pieces, bytes=1 of a piece, forever=false",
		when: both,
		create: (params) => {
			const pause = params.integer("milliseconds", 100, milliseconds);
			const size = params.integer("bytes", 1, { least: 1, most: bytes.most });
			const forever = params.flag("forever");
			return {
				// White space after the JSON never ends: the text is whole, but the answer is not.
				alterAnswer: (draft) => (forever ? { ...draft, framing: "close" } : draft),
				send: async (answer, context) => {
					if (!forever) return inPieces(answer, context, size, pause);
					await inPieces({ ...answer, last: false }, context, size, pause);
					while (!context.channel.isClosed) {
						await context.channel.wait(pause);
						await context.channel.send(" ".repeat(size));
					}
					return answer.status;
				},
			};
		},
	},
	bandwidth: {
		summary: "the true answer at that many bytes a second",
		parameters: "bytes=1000",
		when: both,
		create: (params) => {
			const rate = params.integer("bytes", 1000, { least: 1, most: bytes.most });
			const pause = Math.max(bandwidthTick, 1000 / rate);
			const size = Math.max(1, Math.round((rate * pause) / 1000));
			return { send: (answer, context) => inPieces(answer, context, size, pause) };
		},
	},
	slice: {
		summary: "the true answer in segments of that many bytes, without pauses",
		parameters: "bytes=1",
		when: both,
		create: (params) => {
			const size = params.integer("bytes", 1, { least: 1, most: bytes.most });
			return { send: (answer, context) => inPieces(answer, context, size, 0) };
		},
	},
} satisfies Readonly<Record<string, FaultKind>>;

/**
 * Whether a change gives a document its first metadata. RAGFlow from v0.25.3 on inserts it and waits for the engine's refresh
 * (`insert` with `refresh="wait_for"` in rag/utils/es_conn.py, v0.25.3 to v0.27), in the event loop of all requests.
 */
function isFirstMetadata(change: Change): boolean {
	return change.action === "update" && change.before === "{}" && change.metadata !== "{}";
}

/** Reads `milliseconds` and `jitter`; the returned function draws a wait between the two. */
function randomWait(params: PlanParams): (random: () => number) => number {
	const least = params.integer("milliseconds", 1000, milliseconds);
	const jitter = params.integer("jitter", 0, milliseconds);
	return (random) => least + Math.floor(random() * (jitter + 1));
}

/** Sends an answer in pieces of `size` bytes, with a pause in milliseconds between two. */
async function inPieces(
	{ head, body, status, last }: EncodedAnswer,
	{ channel }: FaultContext,
	size: number,
	pause: number,
): Sent {
	const whole = Buffer.concat([head, body]);
	for (let at = 0; at < whole.length && !channel.isClosed; at += size) {
		if (at > 0 && pause > 0) await channel.wait(pause);
		await channel.send(whole.subarray(at, at + size));
	}
	if (last) await channel.closeWithFin();
	return status;
}
