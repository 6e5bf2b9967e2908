import { liar, type Liar } from "./liar.ts";
import { type Ended, envOf, ragtag } from "./ragtag.ts";
import { folder } from "./service.ts";
import { range } from "./values.ts";

export type RawWorld = Liar & {
	readonly home: string;
	/** what another client writes onto documents, by their numbers */
	readonly theirs: Map<number, string>;
	run(...argv: readonly string[]): Promise<Ended>;
};

/** A service whose documents have metadata of these texts until they are written: `JSON.stringify` could write none of it. */
export async function rawWorld(raw: readonly string[]): Promise<RawWorld> {
	const theirs = new Map<number, string>();
	const service: Liar = await liar(raw.length, ({ method, path, query }) => {
		if (method !== "GET" || !path.endsWith("/documents")) return undefined;
		const start = (Number(query.get("page") ?? 1) - 1) * Number(query.get("page_size") ?? 30);
		const docs = range(raw.length)
			.filter((n) => service.held.has(`doc-${n}`) && [null, `doc-${n}`].includes(query.get("id")))
			.map(
				(n) =>
					`{"id":"doc-${n}","dataset_id":"set","name":"doc-${n}.txt","meta_fields":${theirs.get(n) ?? shown(service, raw, n)}}`,
			);
		return `{"code":0,"data":{"total":${docs.length},"docs":[${start === 0 ? docs.join(",") : ""}]}}`;
	});
	const home = await folder();
	return {
		...service,
		home,
		theirs,
		run: (...argv) => ragtag([...argv, "--rate", "5000"], { env: envOf(service), home }),
	};
}

/** What a document has, once it was written, or what it had at first. */
function shown({ held }: Liar, raw: readonly string[], n: number): string | undefined {
	const written = JSON.stringify(held.get(`doc-${n}`));
	return written === "{}" ? raw[n] : written;
}

export const updates = ({ requests }: Liar): readonly string[] =>
	requests.filter((line) => /^(?:PUT|PATCH) .*\/doc-\d+$/.test(line));
