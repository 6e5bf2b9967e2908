import { both, type FaultKind, milliseconds } from "../fault.ts";

/** Faults of the connection: it ends, stays silent, or can't be opened for a while. */
export const connectionKinds = {
	reset: {
		summary: "RST instead of an answer",
		parameters: "",
		when: both,
		create: () => ({
			send: async (_answer, { channel }) => {
				await channel.closeWithRst();
				return null;
			},
		}),
	},
	close: {
		summary: "FIN instead of an answer",
		parameters: "",
		when: both,
		create: () => ({
			send: async (_answer, { channel }) => {
				await channel.closeWithFin();
				return null;
			},
		}),
	},
	silence: {
		summary: "no answer; the connection stays open until the client closes it",
		parameters: "",
		when: both,
		create: () => ({
			send: async (_answer, { channel }) => {
				await channel.untilClosed();
				return null;
			},
		}),
	},
	stall: {
		summary: "the head and that many bytes of the body, then silence",
		parameters: "at=0",
		when: both,
		create: (params) => {
			const at = params.integer("at", 0, { least: 0, most: Number.MAX_SAFE_INTEGER });
			return {
				send: async ({ head, body, status }, { channel }) => {
					await channel.send(Buffer.concat([head, body.subarray(0, at)]));
					await channel.untilClosed();
					return status;
				},
			};
		},
	},
	"no-read": {
		summary: "the body of the request is not read, and not answered: the client's TCP window closes",
		parameters: "",
		// A request that is not read can't be applied.
		when: ["before"],
		create: () => ({
			insteadOfService: async ({ channel }) => {
				channel.stopReading();
				await channel.untilClosed();
				return null;
			},
		}),
	},
	"early-answer": {
		summary: "an error status while the client still sends its request, then RST",
		parameters: "status=413, milliseconds=20 from answer to RST",
		when: ["before"],
		create: (params) => {
			const status = params.integer("status", 413, { least: 400, most: 599 });
			const pause = params.integer("milliseconds", 20, milliseconds);
			return {
				insteadOfService: async ({ channel }) => {
					channel.stopReading();
					const text = `{"code":${status},"message":"refused before it was read"}`;
					const lines = ["content-type: application/json", `content-length: ${text.length}`, "connection: close"];
					await channel.send(`HTTP/1.1 ${status} Refused\r\n${lines.join("\r\n")}\r\n\r\n${text}`);
					await channel.wait(pause);
					await channel.closeWithRst();
					return status;
				},
			};
		},
	},
	"stale-connection": {
		summary: "the true answer with keep-alive, and then the connection is closed",
		parameters: "milliseconds=0 from answer to end, and at random up to jitter=0 more; how=fin|rst",
		when: both,
		create: (params) => {
			const pause = params.integer("milliseconds", 0, milliseconds);
			const jitter = params.integer("jitter", 0, milliseconds);
			const how = params.choice("how", ["fin", "rst"]);
			return {
				alterAnswer: (draft) => ({ ...draft, last: false }),
				send: async ({ head, body, status }, { channel, random }) => {
					const wait = pause + Math.floor(random() * (jitter + 1));
					await channel.send(Buffer.concat([head, body]));
					if (wait > 0) await channel.wait(wait);
					await (how === "rst" ? channel.closeWithRst() : channel.closeWithFin());
					return status;
				},
			};
		},
	},
	outage: {
		summary: "the port and every connection are closed, then the port is opened again: a restart",
		parameters: "milliseconds=1000",
		when: both,
		create: (params) => {
			const length = params.integer("milliseconds", 1000, milliseconds);
			return {
				send: async (_answer, { channel, outage }) => {
					outage(length);
					await channel.untilClosed();
					return null;
				},
			};
		},
	},
	"database-away": {
		summary: "for a while every request is answered as the flavour does without its database; none is applied",
		parameters: "milliseconds=1000",
		when: ["before", "after"],
		create: (params) => ({ databaseDownFor: params.integer("milliseconds", 1000, milliseconds) }),
	},
	"searches-fail": {
		summary:
			"for a while lists show no metadata, and updates go through, or are refused too: releases from v0.24 on without their search engine",
		parameters: "milliseconds=1000, updates=applied|refused",
		when: ["after"],
		create: (params) => ({
			searchesFailFor: params.integer("milliseconds", 1000, milliseconds),
			refusesUpdates: params.choice("updates", ["applied", "refused"]) === "refused",
		}),
	},
} satisfies Readonly<Record<string, FaultKind>>;
