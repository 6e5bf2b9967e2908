import { both, type Kind, milliseconds } from "../kind.ts";

/** The connection itself: ended, silent, or gone for a while. */
export const connectionKinds = {
	reset: {
		about: "RST instead of an answer",
		takes: "",
		when: both,
		make: () => ({
			send: async (_answer, { channel }) => {
				await channel.reset();
				return null;
			},
		}),
	},
	close: {
		about: "FIN instead of an answer: an empty reply",
		takes: "",
		when: both,
		make: () => ({
			send: async (_answer, { channel }) => {
				await channel.hangUp();
				return null;
			},
		}),
	},
	silence: {
		about: "no answer, ever; the connection stays open until the client closes it",
		takes: "",
		when: both,
		make: () => ({
			send: async (_answer, { channel }) => {
				await channel.gone();
				return null;
			},
		}),
	},
	stall: {
		about: "the head and so many bytes of the body, then silence",
		takes: "at=0",
		when: both,
		make: (given) => {
			const at = given.integer("at", 0, { least: 0, most: Number.MAX_SAFE_INTEGER });
			return {
				send: async ({ head, body, status }, { channel }) => {
					await channel.send(Buffer.concat([head, body.subarray(0, at)]));
					await channel.gone();
					return status;
				},
			};
		},
	},
	"no-read": {
		about: "the body of the request is not read, nor anything answered: the client's window closes",
		takes: "",
		// What is not read can't be applied.
		when: ["before"],
		make: () => ({
			instead: async ({ channel }) => {
				channel.stopReading();
				await channel.gone();
				return null;
			},
		}),
	},
	"early-answer": {
		about: "an error status while the request is still being sent, and RST",
		takes: "status=413, milliseconds=20 from answer to RST",
		when: ["before"],
		make: (given) => {
			const status = given.integer("status", 413, { least: 400, most: 599 });
			const pause = given.integer("milliseconds", 20, milliseconds);
			return {
				instead: async ({ channel }) => {
					channel.stopReading();
					const text = `{"code":${status},"message":"refused before it was read"}`;
					const lines = ["content-type: application/json", `content-length: ${text.length}`, "connection: close"];
					await channel.send(`HTTP/1.1 ${status} Refused\r\n${lines.join("\r\n")}\r\n\r\n${text}`);
					await channel.wait(pause);
					await channel.reset();
					return status;
				},
			};
		},
	},
	"stale-connection": {
		about: "a good answer that promises keep-alive, and then the connection is closed",
		takes: "milliseconds=0 from answer to end, and by chance up to jitter=0 more; how=fin|rst",
		when: both,
		make: (given) => {
			const pause = given.integer("milliseconds", 0, milliseconds);
			const jitter = given.integer("jitter", 0, milliseconds);
			const how = given.choice("how", ["fin", "rst"]);
			return {
				spoil: (draft) => ({ ...draft, last: false }),
				send: async ({ head, body, status }, { channel, random }) => {
					const wait = pause + Math.floor(random() * (jitter + 1));
					await channel.send(Buffer.concat([head, body]));
					if (wait > 0) await channel.wait(wait);
					await (how === "rst" ? channel.reset() : channel.hangUp());
					return status;
				},
			};
		},
	},
	outage: {
		about: "the port is closed and every connection cut, then it is opened again: a restart",
		takes: "milliseconds=1000",
		when: both,
		make: (given) => {
			const length = given.integer("milliseconds", 1000, milliseconds);
			return {
				send: async (_answer, { channel, outage }) => {
					outage(length);
					await channel.gone();
					return null;
				},
			};
		},
	},
	"database-away": {
		about: "for a while every request is answered as the flavour does without its database, and none is applied",
		takes: "milliseconds=1000",
		when: ["before", "after"],
		make: (given) => ({ away: given.integer("milliseconds", 1000, milliseconds) }),
	},
} satisfies Readonly<Record<string, Kind>>;
