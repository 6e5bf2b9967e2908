import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../support/ended.ts";
import { commandFlavours, isWhole } from "../support/whole.ts";
import { program } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, serve } from "../support/service.ts";
import { range } from "../support/values.ts";

const [TAGGED, UPLOADED, REMOVED] = isWhole ? [2_000, 200, 50] : [200, 20, 5];

const options = ["--rate", "5000", "--json"];

/**
 * Each kind of server that is met, with no flag given. A user whose server is taken for another loses every upload, every
 * removal, or each row whose list has a comma.
 */
describe.each(commandFlavours)("a server that is %s, without --flavour", (flavour) => {
	it(`${TAGGED} documents are tagged, ${UPLOADED} uploaded and ${REMOVED} removed, and the store holds exactly that`, async () => {
		const service = await serve(TAGGED, { flavour });
		const env = { ...envOf(service), XDG_STATE_HOME: await folder() };
		const ran = async (argv: readonly string[], counts: object): Promise<void> => {
			await ends(program([...argv, ...options], env), 0, { failed: 0, pending: 0, ...counts });
		};

		const splits = flavour >= "ragflow-0.24";
		const ids = await service.ids();
		const rows = ids.map((document_id, n) => ({
			document_id,
			meta_fields: { author: `Zoë, ${n}`, pages: n, topics: ["red; blue", `t${n}`] },
		}));
		const tags = await file("tags.jsonl", rows.map((row) => JSON.stringify(row)).join("\n"));
		await ran(["docs", "tag", tags, "-d", service.dataset], { updated: TAGGED, verified: true });
		// What the server made of the lists is no change: nothing is left to send.
		await ran(["docs", "tag", tags, "-d", service.dataset, "--only-changed"], { unchanged: TAGGED, updated: 0 });
		const tagged = new Map<string, unknown>(
			rows.map(({ document_id, meta_fields }) => {
				const [, own = ""] = meta_fields.topics;
				return [document_id, splits ? { ...meta_fields, topics: ["red", "blue", own] } : meta_fields];
			}),
		);
		const held = async (): Promise<Map<string, unknown>> =>
			new Map((await service.documents()).map(({ id, metadata }) => [id, metadata]));
		expect(await held()).toEqual(tagged);

		const home = await folder();
		const numbers = range(UPLOADED);
		for (const n of numbers) await writeFile(join(home, `${n}.txt`), `text ${n}`);
		const files = join(home, "files.csv");
		await writeFile(files, `file,team,topics:list\n${numbers.map((n) => `${n}.txt,team ${n},"a, b|c"\n`).join("")}`);
		await ran(["docs", "upload", files, "-d", service.dataset], { uploaded: UPLOADED, verified: true });
		const made = (await service.documents()).filter(({ id }) => !tagged.has(id));
		const topics = splits ? ["a", "b", "c"] : ["a, b", "c"];
		expect(new Map(made.map(({ name, metadata }) => [name, metadata]))).toEqual(
			new Map(numbers.map((n) => [`${n}.txt`, { team: `team ${n}`, topics }])),
		);
		expect(made).toHaveLength(UPLOADED);

		const gone = made.slice(3, 3 + REMOVED).map(({ id }) => id);
		const removals = await file("ids.csv", `document_id\n${gone.join("\n")}\n`);
		await ran(["docs", "rm", removals, "-d", service.dataset, "--yes"], { removed: REMOVED });
		const left = made.filter(({ id }) => !gone.includes(id));
		const uploaded = left.map(({ id, metadata }): [string, unknown] => [id, metadata]);
		expect(await held()).toEqual(new Map([...tagged, ...uploaded]));

		const forms = service.requests.filter((line) => line.startsWith(flavour >= "ragflow-0.25" ? "PUT" : "PATCH"));
		// The other verb is asked for once, by the probe, and no row goes out by it.
		expect(forms.every((line) => line.includes(`/documents/${"0".repeat(32)}`))).toBe(true);
	}, 240_000);
});
