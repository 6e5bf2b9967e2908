import { writeFile } from "node:fs/promises";
import { CliError, Exit } from "../../errors.ts";
import { metadataText } from "../../json/values.ts";
import { type Fault, positionIn } from "../../manifest/fault.ts";
import { MemberNames } from "../../manifest/json/object.ts";
import { JsonReader } from "../../manifest/json/reader.ts";
import { emptyRow } from "../../manifest/rows/row-reader.ts";
import { RowValidator } from "../../manifest/rows/validator.ts";
import { readSidecar } from "../../manifest/sidecars/find.ts";
import type { ManifestOptions } from "../../manifest/types.ts";
import { excerpt } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";
import { type ProblemReporter, problemReporter } from "../check/check-manifest.ts";
import type { Run } from "../open-run.ts";
import { type FactSetting, setFacts } from "./fact-settings.ts";
import { type FoundFile, isRenamed } from "./find-files.ts";
import { checkedRows, madeRows, type ManifestReadFlags } from "./manifest-rows.ts";
import type { RowSource } from "./row-source.ts";

/** Files whose metadata comes from sidecars, by the absolute paths of their files, or from facts of each. */
type DescribedFiles = {
	readonly files: readonly FoundFile[];
	readonly sidecars: ReadonlyMap<string, string>;
	readonly facts: readonly FactSetting[];
};

/**
 * Files with metadata of their own, as rows. They are written as a manifest, of which a recorded run keeps a copy: a resumed
 * run sends the metadata that was checked.
 *
 * @throws CliError exit 3 where the metadata of one has a problem, after all problems were printed
 */
export async function describedRows(
	run: Run<ManifestReadFlags>,
	described: DescribedFiles,
	options: ManifestOptions,
): Promise<RowSource> {
	const { app } = run;
	const { size } = described.sidecars;
	const count = size === 1 ? "1 sidecar is" : `${numberText(size)} sidecars are`;
	if (size > 0) app.io.note(`${count} read as metadata, and not uploaded; --no-sidecars uploads them.`);
	const text = await manifestText(run, described, options);
	// What a sidecar was mapped to must not be mapped again.
	const { map: _map, ignore: _ignore, ...flags } = run.flags;
	const reading = { ...options, map: new Map<string, string>(), ignore: new Set<string>(), filesRoot: "/" };
	return madeRows(
		run,
		"the metadata of the files",
		(path) => writeFile(path, text, { flag: "wx", mode: 0o600 }),
		(path) => checkedRows({ ...run, flags }, { path, name: "files" }, reading, undefined),
	);
}

async function manifestText(
	{ flags, app }: Run<ManifestReadFlags>,
	{ files, sidecars, facts: settings }: DescribedFiles,
	options: ManifestOptions,
): Promise<string> {
	const validator = await RowValidator.create(files[0]?.facts.path ?? ".", options);
	const names = new MemberNames(options);
	const reader = new JsonReader("jsonl", options);
	const problems = problemReporter(flags.json === true, app);
	let wrong = 0;
	let text = "";
	for (const found of files) {
		app.signal.throwIfAborted();
		const { facts, name } = found;
		const sidecar = sidecars.get(facts.path);
		const read = sidecar === undefined ? undefined : await readSidecar(sidecar, names);
		const { parsed, text: content } = read ?? { parsed: emptyRow(), text: "" };
		const faults = validator.faults(parsed, true);
		faults.push(...(await setFacts(settings, facts, parsed.metadata, options)));
		const place = sidecar ?? facts.path;
		const withFaults = { metadata: parsed.metadata, place: excerpt(place), faults };
		if (parsed.isReadable) await validator.addSchemaFaults([withFaults], app.signal);
		for (const fault of faults) await report(problems, reader, { sidecar: place, text: content }, fault);
		wrong += faults.length;
		const [dataset, path] = [JSON.stringify(options.dataset), JSON.stringify(facts.path)];
		const named = isRenamed(found) ? `"name":${JSON.stringify(name)},` : "";
		text += `{"dataset_id":${dataset},"file":${path},${named}"meta_fields":${metadataText(parsed.metadata)}}\n`;
	}
	problems.end();
	if (wrong === 0) return text;
	const what = sidecars.size > 0 ? "the sidecars have" : "the values of --set have";
	throw new CliError(`${what} ${numberText(wrong)} ${wrong === 1 ? "problem" : "problems"}; nothing was sent`, {
		exit: Exit.manifest,
		hint: "Correct them, or leave them out.",
	});
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
