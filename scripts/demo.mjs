// `npm run demo`: uploads the documentation of the installed packages to a sandbox on this machine, tags and lists it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { packageDocuments } from "./demo/documents.mjs";
import { ragtag, startSandbox } from "./demo/ragtag.mjs";

const MODULES = fileURLToPath(new URL("../node_modules", import.meta.url));
const SHOWN = 10;

const folder = await mkdtemp(join(tmpdir(), "ragtag-demo-"));
let sandbox;
try {
	heading("1. A service on this machine");
	sandbox = await startSandbox(folder);
	await demo(sandbox.env);
} catch (error) {
	console.error(`\ndemo failed: ${error instanceof Error ? error.message : String(error)}`);
	if (sandbox !== undefined) console.error(`The sandbox's last lines:\n${await sandbox.lastLines()}`);
	process.exitCode = 1;
} finally {
	await sandbox?.stop();
	await rm(folder, { recursive: true, force: true });
}

async function demo(service) {
	const options = { cwd: folder, env: { ...service, RAGTAG_STATE_DIR: join(folder, "state") } };

	heading("2. A dataset");
	const dataset = (await ragtag(["datasets", "create", "demo"], options)).trim();
	console.log(dataset);

	heading("3. Upload the README, CHANGELOG and LICENSE files of the installed packages");
	const documents = await packageDocuments(MODULES);
	if (documents.length === 0) throw new Error("no documents found: is node_modules there?");
	await writeCsv("manifest.csv", [["file", "name"], ...documents.map(({ file, name }) => [file, name])]);
	const upload = ["docs", "upload", "manifest.csv", "-d", dataset, "--files-root", MODULES];
	const ids = await ragtag(upload, { ...options, into: "ids.csv" });
	await writeFile(join(folder, "ids.csv"), ids);
	const uploaded = parse(ids, { columns: true, bom: true });
	same("rows in ids.csv", uploaded.length, documents.length);
	console.log(`${uploaded.length} documents uploaded`);

	heading("4. Tag them with what their package.json says");
	const keys = ["author", "publish_date", "category", "url"];
	const metadataOf = new Map(documents.map(({ name, metadata }) => [name, metadata]));
	const rows = uploaded.map(({ document_id, dataset_id, name }) => {
		const metadata = metadataOf.get(name);
		if (metadata === undefined) throw new Error(`ids.csv names ${name}, which was not uploaded`);
		return [document_id, dataset_id, ...keys.map((key) => metadata[key])];
	});
	await writeCsv("tags.csv", [["document_id", "dataset_id", ...keys], ...rows]);
	process.stdout.write(await ragtag(["docs", "tag", "tags.csv"], options));

	heading("5. Find those of the most common category");
	// A package without keywords says nothing of what it is about.
	const told = documents.map(({ metadata }) => metadata.category).filter((name) => name !== "uncategorised");
	const [category, expected] = mostCommon(told);
	const fields = ["--fields", "name,author,publish_date"];
	const found = await ragtag(["docs", "list", "-d", dataset, "--where", `category=${category}`, ...fields], options);
	const [head, ...lines] = found.trimEnd().split("\n");
	console.log([head, ...lines.slice(0, SHOWN)].join("\n"));
	console.log(`(${Math.min(SHOWN, lines.length)} of ${lines.length})`);
	same(`documents of category ${category}`, lines.length, expected);

	heading("6. Count them all");
	const all = await ragtag(["docs", "list", "-d", dataset, "--format", "jsonl"], options);
	const listed = all
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	same("documents in the dataset", listed.length, documents.length);
	const tagged = listed.filter(({ name, meta_fields }) => meta_fields.category === metadataOf.get(name)?.category);
	same("documents with their category", tagged.length, documents.length);
	console.log(`\n${listed.length} documents uploaded, tagged and listed; none missing.`);
}

function heading(text) {
	console.log(`\n== ${text}`);
}

function same(what, actual, expected) {
	if (actual !== expected) throw new Error(`${what}: ${actual}, expected ${expected}`);
}

function mostCommon(values) {
	const counts = new Map();
	for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
	return [...counts].toSorted(([, one], [, other]) => other - one)[0];
}

async function writeCsv(name, rows) {
	const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
	await writeFile(join(folder, name), rows.map((row) => `${row.map(cell).join(",")}\n`).join(""));
}
