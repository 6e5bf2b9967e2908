import { isObject } from "../../../src/sandbox/json-text.ts";
import * as by from "../support.ts";

/**
 * A request, and what the code of v0.21.1 and of v0.27.0 answers; one text where both answer the same. `$D` is the dataset,
 * `$0` to `$2` are its documents. The request is a method, a path below the dataset's documents, and a JSON body.
 * Requests that `test/sandbox/rules/` holds every release to are not repeated here.
 */
export type Raw = readonly [request: string, v21: string, v27?: string];

/** Three documents with what two of them have. The last has nothing. */
export const names = ["0.txt", "1.md", "2.txt"] as const;
const held = ['{"author":"Ann","pages":7,"tags":["a","b"],"date":"2025-02-28"}', '{"author":"Bob","pages":12}'];

export type Scene = { readonly sandbox: by.Target; readonly dataset: string; readonly ids: readonly string[] };

export async function rawScene(sandbox: by.Target, name: string, verb: "PUT" | "PATCH"): Promise<Scene> {
	const dataset = await by.createDataset(sandbox, name);
	const ids = await by.upload(sandbox, dataset, ...names);
	for (const [at, metadata] of held.entries()) {
		const sent = { headers: by.jsonHeader, body: `{"meta_fields":${metadata}}` };
		await by.send(sandbox, verb, by.documentsPath(dataset, ids[at]), sent);
	}
	return { sandbox, dataset, ids };
}

/** The answer to a request, in one line: status where it is not 200, code, data, message of a failure. */
export async function answerTo(request: string, scene: Scene): Promise<string> {
	const [method = "", path = "", ...words] = filled(request, scene).split(" ");
	const url = path.startsWith("/") ? `/api/v1${path}` : `${by.documentsPath(scene.dataset)}${path.slice(1)}`;
	const answer = await by.send(scene.sandbox, method, encoded(url), sentOf(words.join(" ")));
	const status = answer.status === 200 ? "" : `HTTP ${answer.status} `;
	const data = dataText(answer);
	const message = answer.code === 0 ? "" : ` ${answer.message}`;
	return emptied(`${status}${String(answer.code)}${data}${message}`, scene);
}

/** An upload is written as the names of its files, and anything else as JSON. */
function sentOf(body: string): by.Sent {
	if (body === "") return {};
	if (!body.startsWith("files")) return { headers: by.jsonHeader, body };
	const files = body.split(" ").slice(1);
	return { headers: by.partsHeader, body: by.multipart(...files.map((name) => by.filePart(name, name))) };
}

function encoded(url: string): string {
	return encodeURI(url).replaceAll("%25", "%");
}

function dataText({ json, data }: by.Answer): string {
	if (!isObject(json) || !Object.hasOwn(json, "data")) return "";
	const docs = by.at(data, "docs");
	if (Array.isArray(docs)) return ` ${String(by.at(data, "total"))}[${namesOf(docs)}]`;
	if (Array.isArray(data) && data.some((each) => by.at(each, "name") !== undefined)) return ` [${namesOf(data)}]`;
	if (by.at(data, "create_time") !== undefined) return ` (${String(by.at(data, "name"))})`;
	return ` ${JSON.stringify(data)}`;
}

function namesOf(documents: readonly unknown[]): string {
	return documents.map((each) => String(by.at(each, "name"))).join(" ");
}

function filled(text: string, { dataset, ids }: Scene): string {
	return text.replaceAll("$D", dataset).replaceAll(/\$(\d)/g, (_, at: string) => ids[Number(at)] ?? "");
}

function emptied(text: string, { dataset, ids }: Scene): string {
	return ids.reduce((line, id, at) => line.replaceAll(id, `$${at}`), text.replaceAll(dataset, "$D"));
}
