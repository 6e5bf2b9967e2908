import { chunk } from "../draft.ts";
import type { Channel } from "../channel.ts";
import type { PlanParams } from "../plan-params.ts";
import { both, bytes, type Kind } from "../kind.ts";

const anywhere = { least: -bytes.most, most: bytes.most };

/** Answers that end too early. A negative place counts from the end. */
export const cutKinds = {
	cut: {
		about: "the answer cut at a byte, counted from its first one, head included",
		takes: "at=-1, how=fin|rst",
		when: both,
		make: (given) => {
			const [at, end] = [given.integer("at", -1, anywhere), ending(given)];
			return {
				send: async ({ head, body, status }, { channel }) => {
					const sent = upTo(Buffer.concat([head, body]), at);
					await channel.send(sent);
					await end(channel);
					// The status line is there when its number is.
					return sent.length >= "HTTP/1.1 200".length ? status : null;
				},
			};
		},
	},
	"cut-body": {
		about: "the body cut at a byte, under the Content-Length of the whole",
		takes: "at=-1, how=fin|rst",
		when: both,
		make: (given) => {
			const [at, end] = [given.integer("at", -1, anywhere), ending(given)];
			return {
				send: async ({ head, body, status }, { channel }) => {
					await channel.send(Buffer.concat([head, upTo(body, at)]));
					await end(channel);
					return status;
				},
			};
		},
	},
	"cut-chunked": {
		about: "a chunked body cut at a byte of its text, without the last chunk",
		takes: "at=-1, how=fin|rst",
		when: both,
		make: (given) => {
			const [at, end] = [given.integer("at", -1, anywhere), ending(given)];
			return {
				spoil: (draft) => ({ ...draft, framing: "chunked" }),
				send: async ({ head, content, status }, { channel }) => {
					const part = upTo(content, at);
					await channel.send(part.length === 0 ? head : Buffer.concat([head, chunk(part)]));
					await end(channel);
					return status;
				},
			};
		},
	},
	"cut-unframed": {
		about: "a body without Content-Length, ended by FIN too early: it looks complete to any client",
		takes: "at=-1",
		when: both,
		make: (given) => {
			const at = given.integer("at", -1, anywhere);
			return { spoil: (draft) => ({ ...draft, framing: "close", body: upTo(draft.body, at) }) };
		},
	},
} satisfies Readonly<Record<string, Kind>>;

function ending(given: PlanParams): (channel: Channel) => Promise<void> {
	const how = given.choice("how", ["fin", "rst"]);
	return (channel) => (how === "rst" ? channel.reset() : channel.hangUp());
}

function upTo(whole: Buffer, at: number): Buffer {
	return whole.subarray(0, at < 0 ? Math.max(0, whole.length + at) : at);
}
