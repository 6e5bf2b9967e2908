import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Flavour } from "../../src/sandbox/flavours/index.ts";
import { program } from "./program.ts";
import { envOf } from "./ragtag.ts";
import { folder, KEY, serve, type Service } from "./service.ts";
import { range, summaryOf } from "./values.ts";

export type Backup = {
	readonly service: Service;
	readonly env: Readonly<Record<string, string>>;
	/** a folder for what is downloaded; it is not there yet */
	readonly out: string;
	/** the SHA-256 of each document's bytes, by its name */
	readonly bytes: ReadonlyMap<string, string>;
};

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Names that are no file names on some system, or that a manifest must quote. */
const ODD = [
	"CON.txt",
	"a: b?.md",
	"Zoë, Ω.md",
	"manifest.csv",
	".ragtag-x.md",
	"'quoted'.json",
	"two.dots.md",
	"=1+1.txt",
];

/** A dataset of that many documents, which the program has filled: odd names, bytes that are no text, values of each type. */
export async function filled(count: number, flavour: Flavour, latency = 0): Promise<Backup> {
	const service = await serve(0, { flavour, latency });
	const [home, state] = [await folder(), await folder()];
	const env = { ...envOf(service), XDG_STATE_HOME: state };
	const bytes = new Map<string, string>();
	const rows: string[] = [];
	await mkdir(join(home, "files"));
	for (const n of range(count)) {
		const name = ODD[n] ?? `document ${n}.txt`;
		const content = Buffer.from(range(n % 7 === 0 ? 0 : n).map((at) => (at * 37 + n) % 256));
		bytes.set(name, sha256(content));
		await writeFile(join(home, "files", `${n}`), content);
		const meta_fields = {
			pages: n,
			draft: "true",
			code: `00${n}`,
			title: `Zoë, "${n}"`,
			topics: ["red", `t${n}`],
			file: "f",
		};
		rows.push(JSON.stringify({ file: `files/${n}`, name, meta_fields: n % 5 === 0 ? {} : meta_fields }));
	}
	const manifest = join(home, "all.jsonl");
	await writeFile(manifest, rows.join("\n"));
	await ran(["docs", "upload", manifest, "-d", service.dataset], env, { uploaded: count });
	return { service, env, out: join(home, "out"), bytes };
}

/** Runs the built program, which must reach its goal. */
export async function ran(argv: readonly string[], env: Backup["env"], counts: object): Promise<void> {
	const { exit, stdout, stderr } = await program([...argv, "--rate", "5000", "--json"], env);
	expect([summaryOf(stdout), stderr]).toMatchObject([{ failed: 0, pending: 0, ...counts }, expect.any(String)]);
	expect(exit).toBe(0);
}

export type Stored = { readonly sha256: string; readonly metadata: unknown };

/** What the service has under each name, asked for without the program. */
export async function stored({ url, documents }: Service, dataset: string): Promise<ReadonlyMap<string, Stored>> {
	const found = new Map<string, Stored>();
	for (const { id, name, metadata } of await documents(dataset)) {
		const address = `${url}/api/v1/datasets/${dataset}/documents/${id}?asked-by=the-test`;
		const answer = await fetch(address, { headers: { authorization: `Bearer ${KEY}`, connection: "close" } });
		// An empty file is answered by an error.
		const isFile = answer.headers.has("content-disposition");
		const body = new Uint8Array(await answer.arrayBuffer());
		found.set(name, { sha256: sha256(isFile ? body : new Uint8Array()), metadata });
	}
	return found;
}

/** Downloads a dataset and uploads it into an empty one: both must hold the same. */
export async function backUpAndRestore(count: number, flavour: Flavour): Promise<void> {
	const { service, env, out, bytes } = await filled(count, flavour);
	await ran(["docs", "download", "-d", service.dataset, "--out", out], env, { downloaded: count });
	const created = await program(["datasets", "create", "copy"], env);
	const copy = created.stdout.trim();
	await ran(["docs", "upload", join(out, "manifest.csv"), "-d", copy], env, { uploaded: count });
	const [before, after] = [await stored(service, service.dataset), await stored(service, copy)];
	expect(new Map([...before].map(([name, each]) => [name, each.sha256]))).toEqual(bytes);
	expect(after).toEqual(before);
}
