import type { IncomingMessage } from "node:http";
import { listen } from "./listen.ts";
import { at, parse, range } from "./values.ts";

/** In place of an answer: the connection is cut, or a proxy says that nobody is behind it. */
export const CUT = Symbol("cut");
export const BAD_GATEWAY = Symbol("bad gateway");

/**
 * What a server may answer in place of the truth: a body, of status 200 unless its member `http` says another one, or
 * undefined for the truth.
 */
export type Lie = (asked: {
	readonly method: string;
	readonly path: string;
	readonly query: URLSearchParams;
	/** what its body is said to be */
	readonly type: string;
}) => unknown;

export type Liar = {
	readonly url: string;
	readonly dataset: string;
	/** what the documents `doc-0`, `doc-1` and so on have */
	readonly held: Map<string, unknown>;
	/** `METHOD PATH` of every request, without queries */
	readonly requests: readonly string[];
};

/** A service of the documented API that keeps what it is told to, except where the test has it lie. */
export async function liar(documents: number, lie: Lie): Promise<Liar> {
	const held = new Map<string, unknown>(range(documents).map((n) => [`doc-${n}`, {}]));
	/** of documents that were uploaded; the others are called `doc-0.txt` and so on */
	const names = new Map<string, string>();
	const nameOf = (id: string): string => names.get(id) ?? `${id}.txt`;
	const requests: string[] = [];
	const truth = (method: string, path: string, query: URLSearchParams, body: string): unknown => {
		if (path === "/api/v1/datasets") return { code: 0, data: [{ id: "set", name: "set" }] };
		if (method === "GET") {
			const size = Number(query.get("page_size") ?? 30);
			const start = (Number(query.get("page") ?? 1) - 1) * size;
			const [asked, name] = [query.get("id"), query.get("name")];
			const found = [...held].filter(([each]) => [null, each].includes(asked) && [null, nameOf(each)].includes(name));
			const docs = found.map(([each, meta_fields]) => ({
				id: each,
				dataset_id: "set",
				name: nameOf(each),
				meta_fields,
			}));
			return { code: 0, data: { total: found.length, docs: docs.slice(start, start + size) } };
		}
		if (method === "POST") {
			const made = `doc-${held.size}`;
			const name = /filename="([^"]*)"/.exec(body)?.[1] ?? "";
			held.set(made, {});
			names.set(made, name);
			return { code: 0, data: [{ id: made, name }] };
		}
		const named = /\/documents\/(.+)$/.exec(path)?.[1];
		const id = named === undefined ? String(at(parsed(body), "ids", 0)) : decodeURIComponent(named);
		if (!held.has(id)) return { code: 404, message: "no such document" };
		if (method === "DELETE") held.delete(id);
		else if (method === "PUT") held.set(id, at(parsed(body), "meta_fields"));
		else return { code: 405, message: "not taken" };
		return { code: 0, message: "Success", data: { document_id: id } };
	};
	const answer = async (request: IncomingMessage): Promise<unknown> => {
		const { pathname: path, searchParams: query } = new URL(request.url ?? "", "http://liar");
		const method = request.method ?? "";
		requests.push(`${method} ${path}`);
		const body = await bodyOf(request);
		return (
			lie({ method, path, query, type: request.headers["content-type"] ?? "" }) ?? truth(method, path, query, body)
		);
	};
	const { url } = await listen((request, response) => {
		void answer(request).then((said) => {
			if (said === CUT) request.socket.destroy();
			else if (typeof said === "symbol") response.writeHead(502).end();
			else
				response.writeHead(Number(at(said, "http") ?? 200)).end(typeof said === "string" ? said : JSON.stringify(said));
		});
	});
	return { url, dataset: "set", held, requests };
}

/** The JSON in a body, whatever form it was sent in. */
const parsed = (body: string): unknown => parse(/\{.*\}/s.exec(body)?.[0] ?? "{}");

async function bodyOf(request: IncomingMessage): Promise<string> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
	return Buffer.concat(chunks).toString();
}
