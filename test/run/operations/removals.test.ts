import { expect, it } from "vitest";
import { RestError } from "../../../src/rest/errors.ts";
import type { ProbeAnswer } from "../../../src/rest/flavours.ts";
import type { Document, DocumentQuery } from "../../../src/rest/types.ts";
import { type SentLog } from "../../../src/run/operations/operation.ts";
import type { Work } from "../../../src/run/types.ts";
import { range } from "../../support/values.ts";
import { documentOf, fakeApi } from "../fake-api.ts";
import { FakeClock } from "../fake-clock.ts";
import { provenService, removing, unrecorded } from "../fake-service.ts";
import { chunksOf, expectAccounted, failure, type Run, start } from "../harness.ts";
import { ragflowPatch } from "../../support/flavours.ts";

const ROWS = 250;
const names = range(ROWS).map((index) => `doc-${index}`);

/** A server that removes all that a request names, or nothing where it does not know one of them. */
type Server = {
	readonly held: Map<string, Document>;
	/** the ids of each removal, in order */
	readonly removals: (readonly string[])[];
	/** ids that a list has shown */
	readonly shown: Set<string>;
	put: ProbeAnswer;
	/** what happens right before the removal of that number, from 0 on */
	before: (number: number) => void;
	/** what is answered in place of success, after the removal was applied */
	after: (number: number) => RestError | undefined;
	/** a document that it keeps whatever it answers */
	kept: string | undefined;
	/** a document: the next list that is asked for it shows nothing */
	blind: string | undefined;
	/** a document that may not be removed: its record is refused */
	unseen: string | undefined;
	refuse: ((item: Work) => RestError | undefined) | undefined;
	/** removals that were recorded as sent */
	recorded: number;
};

function serve(conduct: Partial<Server> = {}): Server {
	return {
		held: new Map([...names, "kept"].map((id) => [id, documentOf(id)])),
		removals: [],
		shown: new Set(),
		put: "in_its_words",
		before: () => undefined,
		after: () => undefined,
		kept: undefined,
		blind: undefined,
		unseen: undefined,
		refuse: undefined,
		recorded: 0,
		...conduct,
	};
}

/** Removes all documents but `kept`. */
async function remove(server: Server, rows = ROWS): Promise<Run> {
	const clock = new FakeClock();
	const removed = async (documents: readonly { readonly id: string }[]): Promise<void> => {
		const ids = documents.map(({ id }) => id);
		const number = server.removals.push(ids) - 1;
		server.before(number);
		const unknown = ids.filter((id) => !server.held.has(id));
		if (unknown.length > 0) {
			const text = `These documents do not belong to dataset set or Document not found: ${unknown.join(", ")}`;
			throw new RestError(text, { kind: "rejected", code: "CODE_102" });
		}
		for (const id of ids) if (id !== server.kept) server.held.delete(id);
		const error = server.after(number);
		if (error !== undefined) throw error;
	};
	const api = fakeApi([], {
		dialect: { flavour: ragflowPatch, form: "json" },
		probeUpdate: async () => server.put,
		removeDocument: (document) => removed([document]),
		removeTogether: removed,
		listDocuments: async (_dataset, { page, pageSize = 30, id, ids }: DocumentQuery) => {
			const asked = ids ?? (id === undefined ? undefined : [id]);
			if (server.blind !== undefined && asked?.includes(server.blind) === true) {
				server.blind = undefined;
				return { items: [], total: 0 };
			}
			const all = [...server.held.values()].filter((each) => asked?.includes(each.id) ?? true);
			const items = all.slice((page - 1) * pageSize, page * pageSize);
			for (const each of items) server.shown.add(each.id);
			return { items, total: all.length };
		},
	});
	const { refuse } = server;
	const log: SentLog = {
		...unrecorded,
		sending: async ({ documentId }) => {
			server.recorded += 1;
			if (documentId === server.unseen) throw new RestError("unseen", { kind: "rejected", code: "POLICY_UNSEEN" });
		},
	};
	const operation = removing(provenService(api, { clock }), { log, ...(refuse === undefined ? {} : { refuse }) });
	const run = start(operation, { rows, clock, chunks: chunksOf(rows, 100) });
	await clock.until(run.done);
	expectAccounted(run, rows);
	// A document counts as removed exactly where it is gone, but for those that another client has taken.
	const counted = run.outcomes.filter(({ status }) => status === "removed").map(({ documentId }) => documentId);
	expect(counted.filter((each) => server.held.has(each))).toEqual([]);
	expect(server.removals.flat().filter((each) => !server.shown.has(each))).toEqual([]);
	expect(server.held.has("kept")).toBe(true);
	return run;
}

const sizes = ({ removals }: Server): number[] => removals.map(({ length }) => length);

const failed = ({ outcomes }: Run): (readonly [string, string | undefined])[] =>
	outcomes.filter(({ status }) => status === "failed").map(({ item, error }) => [item.documentId, error?.code]);

it("after the first, documents are removed a hundred a request", async () => {
	const server = serve();
	const run = await remove(server);
	expect(run.journal.totals()).toMatchObject({ removed: ROWS, failed: 0, attempts: ROWS });
	expect(sizes(server)).toEqual([1, 100, 100, 49]);
});

it("a release without PUT, which removes the others where one is unknown, is sent one id a request", async () => {
	const server = serve({ put: "wrong_verb" });
	const run = await remove(server);
	expect(run.journal.totals()).toMatchObject({ removed: ROWS, failed: 0 });
	expect(new Set(sizes(server))).toEqual(new Set([1]));
});

it.each<[string, (server: Server) => unknown, string, string, boolean]>([
	["an id that no list shows", ({ held }) => held.delete("doc-42"), "doc-42", "NOT_FOUND", false],
	["a document that a refused removal of several left", refuses("doc-7"), "doc-7", "CODE_102", true],
	["a document that lists show after a success", (it) => (it.kept = "doc-7"), "doc-7", "NOT_REMOVED", true],
	["a document that was changed, as the list shows right before", changed("doc-99"), "doc-99", "CONFLICT", false],
	["a row that may not be recorded", (it) => (it.unseen = "doc-150"), "doc-150", "POLICY_UNSEEN", false],
])("%s fails its row alone, and each other is removed", async (_, conduct, id, code, isNamed) => {
	const server = serve();
	conduct(server);
	const run = await remove(server);
	expect(await run.done).toBeUndefined();
	expect(run.journal.totals()).toMatchObject({ removed: ROWS - 1, failed: 1 });
	expect(failed(run)).toEqual([[id, code]]);
	expect(server.removals.flat().includes(id)).toBe(isNamed);
});

/** The service keeps that document, and refuses each request that names it after it has removed the others. */
function refuses(id: string): (server: Server) => void {
	const refusal = new RestError("Tenant not found!", { kind: "rejected", code: "CODE_102" });
	return (server) => {
		server.kept = id;
		server.after = (number) => (server.removals[number]?.includes(id) === true ? refusal : undefined);
	};
}

function changed(id: string): (server: Server) => void {
	const conflict = new RestError("changed", { kind: "rejected", code: "CONFLICT" });
	return (server) => (server.refuse = ({ documentId }) => (documentId === id ? conflict : undefined));
}

it("a document that another client removes right before fails its row alone, and the others are removed", async () => {
	const server = serve();
	server.before = (number) => void (number === 2 && server.held.delete("doc-150"));
	const run = await remove(server);
	expect(run.journal.totals()).toMatchObject({ removed: ROWS - 1, failed: 1 });
	expect(failed(run)).toEqual([["doc-150", "NOT_FOUND"]]);
	expect(run.outcomes.find(({ status }) => status === "failed")?.error?.text).toMatch("another client removed it");
	// The service had removed none of the hundred, and each other one is removed by itself.
	expect(sizes(server).slice(0, 3)).toEqual([1, 100, 100]);
	expect(server.removals.slice(3).flat()).not.toContain("doc-150");
});

it("a lost answer to an applied removal counts all its rows, and sends none again", async () => {
	const server = serve({ after: (number) => (number === 1 ? failure("ambiguous", { status: 504 }) : undefined) });
	const run = await remove(server);
	expect(run.journal.totals()).toMatchObject({ removed: ROWS, failed: 0 });
	expect(server.removals.flat()).toHaveLength(ROWS);
});

it("a removal that was lost on its way is sent again for each document, though a list lacks one for a moment", async () => {
	const server = serve();
	server.before = (number) => {
		if (number !== 1) return;
		server.blind = "doc-2";
		throw failure("ambiguous", { status: 504 });
	};
	const run = await remove(server);
	expect(run.journal.totals()).toMatchObject({ removed: ROWS, failed: 0 });
	expect(server.blind).toBeUndefined();
	const alone = server.removals.filter(({ length }) => length === 1).flat();
	expect(alone).toEqual(expect.arrayContaining(names.slice(1, 101)));
	expect(sizes(server).slice(2)).toContain(100);
});

it("a key that is refused ends the run between two removals: no other is sent, nor recorded as sent", async () => {
	const server = serve({ put: "wrong_verb" });
	server.before = (number) => {
		if (number >= 2) throw failure("untrusted", { status: 401 });
	};
	const run = await remove(server);
	expect(await run.done).toMatchObject({ exit: 4 });
	// Four requests are in flight, and rows are recorded while they wait for a place.
	expect(server.removals.length).toBeLessThanOrEqual(2 + 4);
	expect(server.recorded).toBeLessThan(100);
});
