import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { metadataText } from "../../json/values.ts";
import { type Fault, positionIn } from "../../manifest/fault.ts";
import { MemberNames } from "../../manifest/json/object.ts";
import { JsonReader } from "../../manifest/json/reader.ts";
import { RowValidator } from "../../manifest/rows/validator.ts";
import { SIDECAR_SUFFIX, readSidecar } from "../../manifest/sidecars/find.ts";
import type { ManifestOptions } from "../../manifest/types.ts";
import { excerpt } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";
import { type ProblemReporter, problemReporter } from "../check/check-manifest.ts";
import type { Run } from "../open-run.ts";
import { checkedRows, madeRows, type ManifestReadFlags } from "./manifest-rows.ts";
import type { RowSource } from "./row-source.ts";

/** The files of the command line without the sidecars of others, and those sidecars by the absolute paths of their files. */
type FilesAndSidecars = { readonly files: readonly string[]; readonly sidecars: ReadonlyMap<string, string> };

/** A sidecar is one only beside its file: `papers/*` names both. */
export function sidecarsOf(paths: readonly string[]): FilesAndSidecars {
	const named = new Set(paths.map((path) => resolve(path)));
	const sidecars = new Map<string, string>();
	const files = paths.filter((path) => {
		const file = resolve(path).slice(0, -SIDECAR_SUFFIX.length);
		if (!path.endsWith(SIDECAR_SUFFIX) || !named.has(file)) return true;
		sidecars.set(file, path);
		return false;
	});
	return { files, sidecars };
}

/**
 * Files with the metadata of their sidecars, as rows. They are written as a manifest, of which a recorded run keeps a copy: a
 * resumed run sends the metadata that was checked.
 *
 * @throws CliError exit 3 where a sidecar has a problem, after all problems were printed
 */
export async function sidecarRows(
	run: Run<ManifestReadFlags>,
	{ files, sidecars }: FilesAndSidecars,
	options: ManifestOptions,
): Promise<RowSource> {
	const { app } = run;
	const count = sidecars.size === 1 ? "1 sidecar is" : `${numberText(sidecars.size)} sidecars are`;
	app.io.note(`${count} read as metadata, and not uploaded; --no-sidecars uploads them.`);
	const text = await manifestText(run, { files, sidecars }, options);
	// What a sidecar was mapped to must not be mapped again.
	const { map: _map, ignore: _ignore, ...flags } = run.flags;
	const reading = { ...options, map: new Map<string, string>(), ignore: new Set<string>(), filesRoot: "/" };
	return madeRows(
		run,
		"the metadata of the sidecars",
		(path) => writeFile(path, text, { flag: "wx", mode: 0o600 }),
		(path) => checkedRows({ ...run, flags }, { path, name: "files" }, reading, undefined),
	);
}

async function manifestText(
	{ flags, app }: Run<ManifestReadFlags>,
	{ files, sidecars }: FilesAndSidecars,
	options: ManifestOptions,
): Promise<string> {
	const validator = await RowValidator.create(files[0] ?? ".", options);
	const names = new MemberNames(options);
	const reader = new JsonReader("jsonl", options);
	const problems = problemReporter(flags.json === true, app);
	let wrong = 0;
	let text = "";
	for (const file of files) {
		const sidecar = sidecars.get(resolve(file));
		const read = sidecar === undefined ? undefined : await readSidecar(sidecar, names);
		if (sidecar !== undefined && read !== undefined) {
			const faults = validator.faults(read.parsed, true);
			const withFaults = { metadata: read.parsed.metadata, place: excerpt(sidecar), faults };
			if (read.parsed.isReadable) await validator.addSchemaFaults([withFaults], app.signal);
			for (const fault of faults) await report(problems, reader, { sidecar, text: read.text }, fault);
			wrong += faults.length;
		}
		const metadata = read?.parsed.metadata ?? options.set;
		const [dataset, path] = [JSON.stringify(options.dataset), JSON.stringify(resolve(file))];
		text += `{"dataset_id":${dataset},"file":${path},"meta_fields":${metadataText(metadata)}}\n`;
	}
	problems.end();
	if (wrong === 0) return text;
	throw new CliError(
		`the sidecars have ${numberText(wrong)} ${wrong === 1 ? "problem" : "problems"}; nothing was sent`,
		{
			exit: Exit.manifest,
			hint: "Correct them, or leave them out.",
		},
	);
}

async function report(
	problems: ProblemReporter,
	reader: JsonReader,
	{ sidecar, text }: { readonly sidecar: string; readonly text: string },
	{ field, code, text: why, offset }: Fault,
): Promise<void> {
	const raw = { text, line: 1, column: 1, cells: undefined, fault: undefined };
	const isIn = field !== null && text !== "";
	const place = positionIn(text, offset ?? (isIn ? reader.offsetOf(raw, field) : 0), 1);
	const sentence = field === null ? why : `${excerpt(field)}: ${why}`;
	await problems.report({ file: sidecar, ...place, field, code, text: sentence });
}
