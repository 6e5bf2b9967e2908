import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonValue, Metadata } from "../../src/json/values.ts";
import { documented } from "../../src/rest/flavours.ts";
import { splitLists } from "../../src/rest/ragflow.ts";
import type { BodyForm } from "../../src/body-forms.ts";
import type { Echo } from "../../src/rest/types.ts";
import type { RememberedService } from "../../src/run/service/service-memory.ts";
import { sameMetadata } from "../../src/run/service/arrival.ts";
import { range } from "../support/values.ts";
import { direct } from "./fake-api.ts";
import { FakeClock } from "./fake-clock.ts";
import { fakeServer, type Take } from "./fake-server.ts";
import { memoryOf, serviceOf, writeInDialect } from "./fake-service.ts";
import { ragflowPatch, ragflowPut } from "../support/flavours.ts";

const forms: readonly BodyForm[] = ["multipart", "plain", "json"];
const takes: readonly Take[] = ["keeps", "ignores", "clears", "refuses", "contradicts", "merges"];
const echoes: readonly Echo[] = ["document_id", "id", "nothing", "other"];

// Few keys and values, so that rows often say what is there already, a part of it, or nothing.
const value = fc.constantFrom<JsonValue>("x", 1, null, ["x, y"], ["x", "y"], { a: 1 });
const metadata: fc.Arbitrary<Metadata> = fc
	.dictionary(fc.constantFrom("a", "b", "c"), value, { maxKeys: 3 })
	.map((object) => new Map(Object.entries(object)));

const knowledge: fc.Arbitrary<RememberedService | undefined> = fc.option(
	fc
		.record({ flavour: fc.constantFrom(documented, ragflowPut, ragflowPatch), form: fc.constantFrom(...forms) })
		.chain(({ flavour, form }) =>
			fc.record({
				flavour: fc.constant(flavour),
				form: fc.constant(flavour.update.forms.includes(form) ? form : "json"),
				proven: fc.constantFrom(undefined, ...echoes),
				how: fc.constant("it was seen"),
				foundAt: fc.constant(0),
			}),
		),
	{ nil: undefined },
);

const worlds = fc.record({
	takes: fc.record({
		multipart: fc.constantFrom(...takes),
		plain: fc.constantFrom(...takes),
		json: fc.constantFrom(...takes),
	}),
	kind: fc.constantFrom(
		{ isRagflow: false, verb: "PUT", keeps: documented.normalise } as const,
		{ isRagflow: true, verb: "PUT", keeps: documented.normalise } as const,
		{ isRagflow: true, verb: "PUT", keeps: splitLists } as const,
		{ isRagflow: true, verb: "PATCH", keeps: splitLists } as const,
	),
	echo: fc.constantFrom(...echoes),
	lag: fc.constantFrom(0, 0, 1_000, 4_000),
	shows: fc.constantFrom("all", "all", "all", "names", "nothing"),
	known: knowledge,
	rows: fc.array(fc.record({ before: metadata, sent: metadata }), { minLength: 1, maxLength: 8 }),
	inTurn: fc.boolean(),
});

/** What a document may have where its row counts: what was sent, by the rule of the kind of server that it was taken for. */
function isKept(after: Metadata, sent: Metadata, splits: boolean): boolean {
	return sameMetadata(after, sent) || (splits && sameMetadata(splitLists(after), splitLists(sent)));
}

it("a row never counts if its document differs from what was sent, whatever the server does with each form", async () => {
	let counted = 0;
	await fc.assert(
		fc.asyncProperty(worlds, async ({ kind, known, rows, inTurn, ...start }) => {
			const ids = range(rows.length).map((n) => `doc-${n}`);
			const clock = new FakeClock();
			// A list that still shows what was cleared a moment ago can't tell: no look would help a row of what was there.
			const lag = Object.values(start.takes).includes("clears") ? 0 : start.lag;
			const server = fakeServer(ids, { ...kind, ...start, lag, clock });
			for (const [n, { before }] of rows.entries()) server.held.set(`doc-${n}`, before);
			const notes: string[] = [];
			const service = serviceOf(server.api({ flavour: documented, form: "multipart" }), {
				clock,
				memory: memoryOf(known),
				note: (text) => notes.push(text),
			});
			const write = async (n: number): Promise<number | undefined> => {
				const metadata = rows[n]?.sent ?? new Map<string, JsonValue>();
				const settled = writeInDialect(service, direct, { datasetId: "set", documentId: `doc-${n}`, metadata }, {});
				return settled.then(
					() => n,
					() => undefined,
				);
			};
			const settled: (number | undefined)[] = [];
			if (inTurn) for (const n of ids.keys()) settled.push(await clock.until(write(n)));
			else settled.push(...(await clock.until(Promise.all([...ids.keys()].map(write)))));

			// Where nothing can be read, the service's word is taken, and the user is told.
			if (start.shows !== "all") {
				if (settled.some((n) => n !== undefined)) expect(notes.join()).toContain("can't be read back");
				return;
			}
			// One that merges is told of where it shows, and keeps all that was sent.
			if (Object.values(start.takes).includes("merges")) return;
			const splits = kind.isRagflow || (known !== undefined && known.flavour !== documented);
			for (const n of settled) {
				const row = n === undefined ? undefined : rows[n];
				if (row === undefined) continue;
				counted += 1;
				const after = server.held.get(`doc-${n}`) ?? new Map<string, JsonValue>();
				expect([n, isKept(after, row.sent, splits), [...after]]).toEqual([n, true, [...after]]);
			}
		}),
		{ numRuns: 2_000 },
	);
	expect(counted).toBeGreaterThan(300);
});
