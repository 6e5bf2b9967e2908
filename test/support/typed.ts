import type { Flavour } from "../../src/sandbox/flavours/index.ts";
import { envOf, ragtag } from "./ragtag.ts";
import { file, folder, serve, type Service } from "./service.ts";

/** The releases whose search engine has one type for each key. */
export const typed = [
	"ragflow-0.24",
	"ragflow-0.25",
	"ragflow-0.26",
	"ragflow-0.27",
	"ragflow-1.0",
] as const satisfies readonly Flavour[];

/** Documents of a release, and a user with a state folder of their own. */
export type TypedWorld = {
	readonly service: Service;
	readonly ids: readonly string[];
	run(...argv: readonly string[]): ReturnType<typeof ragtag>;
	/** runs `docs tag` with what each document is to get */
	tag(value: (n: number) => object | undefined, ...flags: readonly string[]): ReturnType<typeof ragtag>;
	/** what the documents have */
	held(): Promise<readonly unknown[]>;
};

/** @param before what each document has at first */
export async function typedWorld(
	options: NonNullable<Parameters<typeof serve>[1]>,
	before: (n: number) => object = () => ({}),
	documents = 6,
): Promise<TypedWorld> {
	const service = await serve(documents, options);
	const ids = await service.ids();
	for (const [n, id] of ids.entries()) if (Object.keys(before(n)).length > 0) await service.put(id, before(n));
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	const run = (...argv: readonly string[]): ReturnType<typeof ragtag> =>
		ragtag([...argv, "--json", "--rate", "5000"], { env });
	return {
		service,
		ids,
		run,
		tag: async (value, ...flags) => run("docs", "tag", await rowsFor(ids, value), "-d", service.dataset, ...flags),
		held: async () => (await service.documents()).map(({ metadata }) => metadata),
	};
}

/** A manifest that gives each document a value. */
export function rowsFor(ids: readonly string[], value: (n: number) => object | undefined): Promise<string> {
	const rows = ids.map((document_id, n) => JSON.stringify({ document_id, meta_fields: value(n) }));
	return file("tags.jsonl", rows.join("\n"));
}
