import type { Written } from "../draft.ts";
import { both, bytes, type Kind, milliseconds, type Sent, type Strike } from "../kind.ts";

/** Milliseconds between two pieces of a limited bandwidth: coarser would come in bursts. */
const bandwidthTick = 20;

/** Good answers that take their time. */
export const paceKinds = {
	delay: {
		about: "the answer so many milliseconds late, and by chance up to so many more",
		takes: "milliseconds=1000, jitter=0",
		when: both,
		make: (given) => {
			const wait = waitOf(given.integer("milliseconds", 1000, milliseconds), given.integer("jitter", 0, milliseconds));
			return {
				send: async (answer, strike) => {
					await strike.channel.wait(wait(strike.random));
					return inPieces(answer, strike, Number.MAX_SAFE_INTEGER, 0);
				},
			};
		},
	},
	late: {
		about: "the request is applied so many milliseconds late, also where the client has gone by then",
		takes: "milliseconds=1000, jitter=0",
		when: ["after"],
		make: (given) => {
			const wait = waitOf(given.integer("milliseconds", 1000, milliseconds), given.integer("jitter", 0, milliseconds));
			return { late: ({ random }) => wait(random) };
		},
	},
	drip: {
		about: "the answer in small pieces, so many bytes every so many milliseconds; for ever, if wanted",
		takes: "milliseconds=100, bytes=1, forever=false",
		when: both,
		make: (given) => {
			const pause = given.integer("milliseconds", 100, milliseconds);
			const size = given.integer("bytes", 1, { least: 1, most: bytes.most });
			const forever = given.flag("forever");
			return {
				// White space after the JSON that never ends: the answer is whole, and is not over.
				spoil: (draft) => (forever ? { ...draft, framing: "close" } : draft),
				send: async (answer, strike) => {
					if (!forever) return inPieces(answer, strike, size, pause);
					await inPieces({ ...answer, last: false }, strike, size, pause);
					while (!strike.channel.isGone) {
						await strike.channel.wait(pause);
						await strike.channel.send(" ".repeat(size));
					}
					return answer.status;
				},
			};
		},
	},
	bandwidth: {
		about: "the answer at so many bytes a second",
		takes: "bytes=1000",
		when: both,
		make: (given) => {
			const rate = given.integer("bytes", 1000, { least: 1, most: bytes.most });
			const pause = Math.max(bandwidthTick, 1000 / rate);
			const size = Math.max(1, Math.round((rate * pause) / 1000));
			return { send: (answer, strike) => inPieces(answer, strike, size, pause) };
		},
	},
	slice: {
		about: "the answer in segments of so many bytes, without a pause",
		takes: "bytes=1",
		when: both,
		make: (given) => {
			const size = given.integer("bytes", 1, { least: 1, most: bytes.most });
			return { send: (answer, strike) => inPieces(answer, strike, size, 0) };
		},
	},
} satisfies Readonly<Record<string, Kind>>;

function waitOf(least: number, jitter: number): (random: () => number) => number {
	return (random) => least + Math.floor(random() * (jitter + 1));
}

async function inPieces({ head, body, status, last }: Written, { channel }: Strike, size: number, pause: number): Sent {
	const whole = Buffer.concat([head, body]);
	for (let at = 0; at < whole.length && !channel.isGone; at += size) {
		if (at > 0 && pause > 0) await channel.wait(pause);
		await channel.send(whole.subarray(at, at + size));
	}
	if (last) await channel.hangUp();
	return status;
}
