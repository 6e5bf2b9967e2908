import { mkdtempSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import type { Flavour } from "../../src/sandbox/flavours/index.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../src/sandbox/index.ts";
import { at, items, parse } from "./values.ts";

/** A key whose body is found wherever six characters of it are printed. */
export const KEY = "ragflow-Canary7Qx2Zp9Lm4Wv8Ts";

/** Fails where any six consecutive characters of a key's body are seen. */
export function withoutKey(text: string, key = KEY): string {
	const body = key.slice(key.indexOf("-") + 1);
	for (let start = 0; start + 6 <= body.length; start++) {
		if (text.includes(body.slice(start, start + 6))) throw new Error("a piece of the key was printed");
	}
	return text;
}

/** The id of the n-th document of a filled sandbox, from 1. */
export const idOf = (number: number): string => number.toString(16).padStart(32, "0");

/** A parameter of the test's own requests that no service knows. */
const OURS = "asked-by=the-test";

export type Held = { readonly id: string; readonly name: string; readonly metadata: unknown };

export type Service = {
	readonly url: string;
	readonly port: number;
	/** of `documents` documents, or the first that the test made */
	readonly dataset: string;
	/** `METHOD PATH STATUS` of every request but the test's own */
	readonly requests: readonly string[];
	/** every document of a dataset as the service holds it, asked for without the client under `src/rest` */
	documents(dataset?: string): Promise<readonly Held[]>;
	ids(): Promise<string[]>;
	/** writes metadata by hand, before the program comes */
	put(id: string, metadata: unknown, dataset?: string): Promise<void>;
	/** makes another dataset, also one of a name that is taken. Its id */
	create(name: string): Promise<string>;
	/** what it speaks from now on: the server is upgraded */
	become(flavour: Flavour): void;
	/** of the faults, where the options ask for them */
	readonly control: Sandbox["control"];
	close(): Promise<void>;
};

/** A sandbox on a free port with a filled dataset. It ends with the test. */
export async function serve(documents = 3, options: Partial<SandboxOptions> = {}): Promise<Service> {
	const requests: string[] = [];
	const log = (line: string): void => {
		const request = line.slice(line.indexOf(" ") + 1);
		// Its own requests are told by their paths: the line of one comes when its answer has gone, however late that is.
		if (!request.includes(OURS)) requests.push(request);
	};
	const sandbox = await startSandbox({ port: 0, key: KEY, ...(documents > 0 ? { documents } : {}), log, ...options });
	onTestFinished(() => sandbox.close());
	let spoken = options.flavour ?? "documented";
	const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
		// Releases of RAGFlow hide what they hold behind their ways of listing.
		sandbox.become("documented");
		try {
			const response = await fetch(`${sandbox.url}/api/v1${path}${path.includes("?") ? "&" : "?"}${OURS}`, {
				method,
				headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", connection: "close" },
				...(body === undefined ? {} : { body: JSON.stringify(body) }),
			});
			return at(parse(await response.text()), "data");
		} finally {
			sandbox.become(spoken);
		}
	};
	const create = async (name: string): Promise<string> => String(at(await ask("POST", "/datasets", { name }), "id"));
	const dataset = sandbox.datasetId ?? (await create("made"));
	const held = async (of = dataset): Promise<Held[]> => {
		const found: Held[] = [];
		for (let page = 1; ; page++) {
			const data = await ask("GET", `/datasets/${of}/documents?page=${page}&page_size=1000`);
			const docs = items(at(data, "docs"));
			for (const doc of docs) {
				found.push({ id: String(at(doc, "id")), name: String(at(doc, "name")), metadata: at(doc, "meta_fields") });
			}
			if (docs.length < 1000) return found;
		}
	};
	return {
		url: sandbox.url,
		port: sandbox.port,
		dataset,
		requests,
		documents: held,
		ids: async () => (await held()).map(({ id }) => id),
		put: async (id, metadata, of = dataset) =>
			void (await ask("PUT", `/datasets/${of}/documents/${id}`, { meta_fields: metadata })),
		create,
		become: (flavour) => sandbox.become((spoken = flavour)),
		control: sandbox.control,
		close: () => sandbox.close(),
	};
}

/** Requests that may write to the dataset. Those that find a flavour out name a document that nobody has. */
export const writes = ({ requests, dataset }: Pick<Service, "requests" | "dataset">): string[] =>
	requests.filter((line) => !line.startsWith("GET") && line.includes(`/datasets/${dataset}/`));

/** A folder that ends with the test. */
export async function folder(): Promise<string> {
	const path = await mkdtemp(join(tmpdir(), "ragtag-test-"));
	onTestFinished(() => rm(path, { recursive: true, force: true }));
	return path;
}

/** A folder that ends with the tests of the file. */
export function folderOfAll(): string {
	const path = mkdtempSync(join(tmpdir(), "ragtag-tests-"));
	afterAll(() => rm(path, { recursive: true, force: true }));
	return path;
}

/** A file in a folder of its own. Its path. */
export async function file(name: string, content: string | Uint8Array): Promise<string> {
	const path = join(await folder(), name);
	await writeFile(path, content);
	return path;
}

/** Writes the profiles of a home, as YAML: `{prod: {rate: 5}}`. The path of their file. */
export async function profilesIn(home: string, profiles: string): Promise<string> {
	const path = join(home, ".config", "ragtag", "config.yaml");
	await mkdir(dirname(path), { recursive: true, mode: 0o700 });
	await writeFile(path, `profiles: ${profiles}\n`, { mode: 0o600 });
	return path;
}
