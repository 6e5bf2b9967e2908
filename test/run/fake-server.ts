import type { Metadata } from "../../src/json/values.ts";
import { RestError } from "../../src/rest/errors.ts";
import type { Flavour, ProbeAnswer } from "../../src/rest/flavours.ts";
import type { BodyForm } from "../../src/body-forms.ts";
import type { Api, Dialect, Echo } from "../../src/rest/types.ts";
import type { Clock } from "../../src/run/types.ts";
import { documentOf, fakeApi } from "./fake-api.ts";

/** What a server makes of an update in one form. */
export type Take = "keeps" | "ignores" | "clears" | "merges" | "refuses" | "contradicts";

export type FakeServer = {
	/** what each document has */
	readonly held: Map<string, Metadata>;
	/** `VERB FORM ID` of each update, and `list`, in the order they came */
	readonly calls: string[];
	/** may be changed while it is used: the server is upgraded */
	verb: "PUT" | "PATCH";
	isRagflow: boolean;
	takes: Partial<Record<BodyForm, Take>>;
	/** whether its lists carry metadata, and whether they show the documents at all */
	shows: "all" | "names" | "nothing";
	keeps: Flavour["normalise"];
	/** how its successes name their document */
	echo: Echo;
	/** documents that its lists leave out */
	readonly hidden: Set<string>;
	/** what its lists lag behind its writes, in milliseconds of `clock` */
	lag: number;
	clock: Pick<Clock, "now">;
	api(dialect: Dialect): Api;
};

/** What a document had before a write that lists do not show yet. */
const stale = new WeakMap<Metadata, { readonly until: number; readonly shown: Metadata }>();

/** A server in memory that answers "success" to what it pleases. */
export function fakeServer(ids: readonly string[], start: Partial<FakeServer> = {}): FakeServer {
	const server: FakeServer = {
		held: new Map(ids.map((id) => [id, new Map()])),
		calls: [],
		verb: "PUT",
		isRagflow: false,
		takes: { multipart: "keeps", plain: "keeps", json: "keeps" },
		shows: "all",
		keeps: (sent) => sent,
		echo: "document_id",
		hidden: new Set(),
		lag: 0,
		clock: { now: () => 0 },
		api: (dialect) => apiOf(server, dialect),
		...start,
	};
	return server;
}

function apiOf(server: FakeServer, dialect: Dialect): Api {
	const { verb } = dialect.flavour.update;
	return fakeApi([], {
		dialect,
		as: (other) => apiOf(server, other),
		listDatasets: async () => ({ items: [], total: undefined }),
		probeList: async () => (server.isRagflow ? "ragflow" : "documented"),
		probeUpdate: async (asked): Promise<ProbeAnswer> => {
			server.calls.push(`probe ${asked}`);
			if (asked === server.verb) return "taken";
			return server.isRagflow ? "wrong_verb" : "other";
		},
		listDocuments: async (_, { id, page }) => {
			server.calls.push("list");
			const found = [...server.held].filter(([each]) => (id === undefined || each === id) && !server.hidden.has(each));
			const items = server.shows === "nothing" || page > 1 ? [] : found;
			return {
				items: items.map(([each, metadata]) =>
					documentOf(each, server.shows === "all" ? shown(server, metadata) : undefined),
				),
				total: items.length,
			};
		},
		updateMetadata: async (_, id, metadata) => {
			server.calls.push(`${verb} ${dialect.form} ${id}`);
			if (verb !== server.verb) throw refusal("contradiction", "CODE_100");
			const before = server.held.get(id);
			if (before === undefined) throw refusal("rejected", "NOT_FOUND");
			const take = server.takes[dialect.form] ?? "refuses";
			if (take === "refuses") throw refusal("rejected", "CODE_101");
			if (take === "contradicts") throw refusal("contradiction", "CODE_100");
			const after = afterUpdate(server, take, before, metadata);
			if (after !== undefined) {
				if (server.lag > 0) stale.set(after, { until: server.clock.now() + server.lag, shown: shown(server, before) });
				server.held.set(id, after);
			}
			return server.echo;
		},
	});
}

/** What the document has after an update that is answered with success; undefined where nothing is touched. */
function afterUpdate(server: FakeServer, take: Take, before: Metadata, sent: Metadata): Metadata | undefined {
	if (take === "keeps") return new Map(server.keeps(sent));
	if (take === "clears") return new Map();
	return take === "merges" ? new Map([...before, ...sent]) : undefined;
}

function shown(server: FakeServer, metadata: Metadata): Metadata {
	const earlier = stale.get(metadata);
	return earlier === undefined || server.clock.now() >= earlier.until ? metadata : earlier.shown;
}

function refusal(kind: "rejected" | "contradiction", code: string): RestError {
	return new RestError(`it answered ${code}`, { kind, code, status: 200 });
}
