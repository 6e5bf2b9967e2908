import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, it } from "vitest";
import { faultKinds } from "../../src/sandbox/faults/table.ts";
import { startSandbox } from "../../src/sandbox/index.ts";
import { ENCODINGS, withoutKeyInAnyForm } from "../support/encodings.ts";
import { SHORT_FAULTS } from "../support/faults.ts";
import { liar } from "../support/liar.ts";
import { start } from "../support/program.ts";
import { envOf, ragtag } from "../support/ragtag.ts";
import { file, folder, idOf, KEY } from "../support/service.ts";
import { endedWithoutKey, withoutKeyBelow } from "./rig/canary.ts";

/** `npm run test:faults` tries every fault, `npm test` those that give the key back. */
const isAll = (process.env["RAGTAG_FAULTS"] ?? "quick") !== "quick";

const ECHOES = ["message", "location", "html", "header", "reason"].map((place) => ["echo-key", { in: place }] as const);
const FAULTS = [
	...ECHOES,
	...(isAll ? [...faultKinds.keys()].map((name) => [name, SHORT_FAULTS[name] ?? {}] as const) : []),
];

/** Nothing that waits for long: what is searched is what is written, not how long it takes. */
const IMPATIENT = ["--attempts", "2", "--timeout", "1s", "--max-wait", "1s", "--max-outage", "1s", "--debug"];

/** The requests that a fault alters. An answer that is not the API's would end a command before it records anything. */
function methodOf(fault: string): { readonly method?: string } {
	if (fault.startsWith("list-")) return { method: "GET" };
	return fault === "redirect" || fault === "html" ? { method: "PUT" } : {};
}

it.each(FAULTS)("after the fault %s %j no output, no file and no port has the key", async (fault, parameters) => {
	const [home, data] = [await folder(), await folder()];
	const log: string[] = [];
	const plan = { fault, ...parameters, on: { times: 2, ...methodOf(fault) } };
	const sandbox = await startSandbox({
		port: 0,
		key: KEY,
		documents: 3,
		data: join(data, "sandbox.db"),
		log: (line) => log.push(line),
		faults: { faults: [plan] },
	});
	try {
		const tags = await file("tags.csv", `document_id,a\n${[1, 2, 3].map((n) => `${idOf(n)},x\n`).join("")}`);
		const uploads = await file("a.txt", "text");
		const dataset = sandbox.datasetId ?? "";
		const state = ["--state-dir", join(home, "state")];
		const run = (argv: readonly string[]): ReturnType<typeof endedWithoutKey> =>
			endedWithoutKey(start([...argv, ...state], envOf(sandbox)));
		await run(["docs", "tag", tags, "-d", dataset, "--failed", join(home, "f.csv"), ...IMPATIENT, "--verify", "all"]);
		if (fault === "upload-answer" || fault === "echo-key") {
			await run(["docs", "upload", uploads, "-d", dataset, "--failed", join(home, "uploads.csv"), ...IMPATIENT]);
		}
		await run(["docs", "plan", tags, "-d", dataset, "--out", join(home, "plan.jsonl"), "--timeout", "1s", "--debug"]);
		await run(["runs", "report", "--json"]);
	} finally {
		await sandbox.close();
	}
	withoutKeyInAnyForm(log.join("\n"), KEY, "the sandbox's log");
	// The record of the run and the store of the sandbox at least.
	expect(await withoutKeyBelow(home, data)).toBeGreaterThan(2);
});

/** A service that gives the key back in a form, in every place that a program may print. */
const giving = (text: string): ReturnType<typeof liar> =>
	liar(1, ({ method, path, query }) => {
		if (path === "/api/v1/datasets" && method === "GET") return { code: 0, data: [{ id: "set", name: text }] };
		if (method === "PUT") return { code: 102, message: `refused: ${text}` };
		if (method === "POST") return { code: 0, data: [{ id: text, name: text, size: 4 }] };
		if (method !== "GET") return undefined;
		const doc = { id: query.get("id") ?? "doc-0", name: text, size: 4, meta_fields: { title: text, [text]: 1 } };
		return { code: 0, data: { total: 1, docs: query.get("page") === "2" ? [] : [doc] } };
	});

it.each(Object.entries(ENCODINGS))("no output has the key when a service gives it back as %s", async (_, encode) => {
	const home = await folder();
	const service = await giving(`with ${encode(KEY)} there`);
	const tags = await file("tags.csv", "document_id,a\ndoc-0,x\n");
	const upload = await file("a.txt", "text");
	const lines = [
		"datasets list --format json",
		"docs list -d set --format json",
		"docs list -d set --format csv",
		"docs list -d set --format tsv",
		"docs list -d set",
		"manifest init -d set",
		`manifest init -d set --out ${home}/made.csv`,
		`docs tag ${tags} -d set --json --failed ${home}/failed.csv --attempts 1`,
		`docs tag ${tags} -d set --dry-run`,
		`docs plan ${tags} -d set`,
		`docs upload ${upload} -d set --failed ${home}/uploads.csv --attempts 1 --max-wait 1s`,
		"doctor -d set",
		"doctor -d set --json",
	];
	for (const line of lines) {
		for (const terminal of [false, true]) {
			const { stdout, stderr, exit } = await ragtag([...line.split(" "), "--debug"], {
				env: envOf(service),
				home,
				terminal,
			});
			expect(exit).not.toBe(70);
			withoutKeyInAnyForm(stdout, KEY, `the output of ${line}`);
			withoutKeyInAnyForm(stderr, KEY, `the messages of ${line}`);
		}
	}
});

it.each([
	["http,https,net,tls,stream,undici,fetch,dns,fs,module,timer", {}],
	["child_process", {}],
	["*", { RAGTAG_API_KEY: "" }],
])("Node's debug output, NODE_DEBUG=%s, does not contain the key", async (names, more) => {
	const home = await folder();
	const sandbox = await startSandbox({ port: 0, key: KEY, documents: 1 });
	try {
		const keyFile = join(home, "key");
		await mkdir(join(home, "ragtag"));
		await writeFile(keyFile, KEY, { mode: 0o600 });
		const config = `profiles: {p: {base_url: '${sandbox.url}', api_key_command: cat '${keyFile}'}}\n`;
		await writeFile(join(home, "ragtag", "config.yaml"), config, { mode: 0o600 });
		const env = { ...envOf(sandbox), ...more, NODE_DEBUG: names, XDG_CONFIG_HOME: home };
		const { stdout } = await endedWithoutKey(start(["datasets", "list", "--profile", "p", "--debug"], env));
		expect(stdout).toContain(sandbox.datasetId ?? "none");
	} finally {
		await sandbox.close();
	}
});
