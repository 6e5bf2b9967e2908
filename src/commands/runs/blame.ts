import type { Command } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode, reason } from "../../errors.ts";
import { blame as blameOf, type BlamedWrite } from "../../plan/blame.ts";
import { journalCliError } from "../../run/recorded/faults.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { type WrittenRow, writesTo } from "../../run/recorded/recorded-rows.ts";
import { readRun } from "../../run/journal/reader.ts";
import { rememberedNormalise } from "../../run/service/service-memory.ts";
import { show } from "../../text/show.ts";
import type { Done } from "../../flags/declare.ts";
import { addVerbosityOptions, withSession } from "../../flags/flags.ts";
import { datasetId, isDatasetId } from "../../workflows/dataset.ts";
import { addFormatOption, chosenFormat, type Format, printList } from "../../workflows/lists/list-output.ts";
import {
	type BlameLine,
	eventColumns,
	eventLines,
	type Place,
	presentColumns,
	presentLines,
	type Source,
} from "./blame-columns.ts";
import { withFlags } from "../../flags/next-command.ts";
import { APPLY } from "../../workflows/plan/open-plan.ts";
import { parseNonEmpty } from "../../flags/values.ts";
import { noteDamaged, type RunsFlags } from "../../workflows/recorded/choose-run.ts";

export type BlameFlags = RunsFlags & {
	readonly dataset?: string | undefined;
	readonly all?: boolean | undefined;
	readonly format?: Format | undefined;
};

/** The options of the command. */
type Query = {
	readonly documentId: string;
	/** only this address; undefined for all */
	readonly baseUrl: string | undefined;
	readonly stateDir: string | undefined;
};

/** A write of a recorded run. */
type FoundWrite = BlamedWrite<Source> & {
	readonly datasetId: string;
	readonly baseUrl: string;
	/** number of the execution that sent it */
	readonly order: number;
};

/** Declares the interface of `runs blame`. What it does is in `blame`. */
export function blameCommand(runs: Command, app: App, done: Done, run = blame): void {
	const command = runs
		.command("blame")
		.summary("show which run, row and manifest set each value of a document")
		.description(
			"Shows which recorded run set each present value of a document, with its time and the row of its manifest. It reads recorded runs only and does not know what other clients wrote since; ragtag docs list shows what the service has.",
		)
		.argument("<document>", "id of the document", parseNonEmpty)
		.option("-d, --dataset <id or name>", "only the document of that dataset", parseNonEmpty)
		.option("--all", "all changes of the document, the oldest first")
		.option("--json", "JSON lines, the same as --format jsonl")
		.addHelpText(
			"before",
			"Examples:\n  ragtag runs blame DOCUMENT\n  ragtag runs blame DOCUMENT --all\n  ragtag runs blame DOCUMENT --json | jq 'select(.key == \"url\")'\n",
		);
	addFormatOption(addVerbosityOptions(command)).action(async (document: string) => {
		done(await run(document, command.optsWithGlobals<BlameFlags>(), app));
	});
}

export async function blame(documentId: string, flags: BlameFlags, app: App): Promise<ExitCode> {
	const settings = await app.settings(flags);
	const runs = app.runs(settings);
	// Only an address that was typed selects documents; one from the environment does not.
	const isNamed = flags.baseUrl !== undefined || flags.profile !== undefined;
	const baseUrl = isNamed ? app.baseUrl(settings) : undefined;
	const query = { documentId, baseUrl, stateDir: settings.stateDir?.value };
	const writes: FoundWrite[] = [];
	const all = await runs.files();
	noteDamaged(runs, flags, app);
	for (const file of all.toReversed()) writes.push(...(await writesOf(file, { runs, query, flags }, app)));
	const found = await ofDataset(writes, flags, app);
	if (found.length === 0) {
		const where = writes.length === 0 ? "" : ` in dataset ${show(flags.dataset ?? "")}`;
		throw new CliError(`no recorded run wrote document ${show(documentId)}${where}`, {
			exit: Exit.failedRows,
			hint: "ragtag runs list shows the recorded runs, and ragtag docs list shows what the service has.",
		});
	}
	const documents: { readonly place: Place; readonly lines: readonly BlameLine[] }[] = [];
	for (const ofDocument of byDocument(found)) {
		const [{ datasetId: id, baseUrl: address } = { datasetId: "", baseUrl: "" }] = ofDocument;
		const history = blameOf(ofDocument, await rememberedNormalise(query.stateDir, address));
		const place = { baseUrl: address, datasetId: id, documentId };
		documents.push({ place, lines: flags.all === true ? eventLines(place, history) : presentLines(place, history) });
	}
	const format = chosenFormat(flags);
	const isTable = (format ?? (app.io.stdoutIsTerminal ? "table" : "tsv")) === "table";
	const shape = (flags.all === true ? eventColumns : presentColumns)(!isTable);
	if (!isTable) {
		await printList(
			documents.flatMap(({ lines }) => lines),
			shape,
			format,
			app,
		);
		return Exit.ok;
	}
	for (const { place, lines } of documents) {
		if (documents.length > 1) await app.io.print(`In dataset ${show(place.datasetId)} at ${show(place.baseUrl)}:\n`);
		await printList(lines, shape, format, app);
	}
	return Exit.ok;
}

/** The writes in the dataset of `-d`. The service is asked only for a name: records have ids. */
async function ofDataset(writes: readonly FoundWrite[], flags: BlameFlags, app: App): Promise<readonly FoundWrite[]> {
	const { dataset } = flags;
	const of = (id: string | undefined): readonly FoundWrite[] => writes.filter(({ datasetId }) => datasetId === id);
	if (dataset === undefined) return writes;
	if (writes.length === 0 || isDatasetId(dataset) || of(dataset).length > 0) return of(dataset);
	let named: string | undefined;
	await withSession(flags, app, async (session, settings) => {
		named = await datasetId({ flags, settings, session, app });
		return Exit.ok;
	});
	return of(named);
}

/** The writes of one run to the document. A run that can't be read does not hide the others. */
async function writesOf(
	file: RunFile,
	{ runs, query, flags }: { readonly runs: RunStore; readonly query: Query; readonly flags: BlameFlags },
	{ io }: App,
): Promise<readonly FoundWrite[]> {
	const name = file.run;
	try {
		if (query.baseUrl !== undefined && file.baseUrl !== query.baseUrl) return [];
		const normalise = await rememberedNormalise(query.stateDir, file.baseUrl);
		const recorded = await readRun(runs.path(name));
		const all = recorded === undefined ? [] : await writesTo(recorded, query.documentId, normalise);
		// A rename changes no key.
		const written = all.filter(({ write }) => write !== "rename");
		const { baseUrl, order: began = 0 } = file;
		// The records of a run's first execution have no number of their own.
		return written.map((one) => ({
			...writeOf(one, file),
			datasetId: one.datasetId,
			baseUrl,
			order: one.order === 0 ? began : one.order,
		}));
	} catch (error) {
		const known = journalCliError(error);
		if (!(known instanceof CliError)) throw error;
		const mend = withFlags(`ragtag runs repair ${name}`, flags);
		const hint = known.exit === Exit.foreign ? "Use the version of ragtag that wrote it." : `To include it: ${mend}`;
		io.note(`warning: run ${name} is left out: ${reason(known)}. ${hint}`);
		return [];
	}
}

function writeOf(written: WrittenRow, { run, command, manifest, started }: RunFile): BlamedWrite<Source> {
	const { line, write, metadata, before, time, status } = written;
	// An upload creates its document, which had nothing before.
	const created = status === "uploaded" || write === "upload" ? new Map<string, never>() : undefined;
	return {
		by: { run, command, manifest: manifestOf(command, manifest), line, time: time ?? Date.parse(started), status },
		sent: write === "remove" ? undefined : metadata,
		before: before ?? created,
		isCertain: status !== undefined && status !== "failed",
	};
}

/** The file of a row's line: the rows of a plan keep the lines of the manifest that it was made from. */
function manifestOf(command: string, { name, source }: RunFile["manifest"]): string {
	return command === APPLY ? (source ?? `manifest of ${name}`) : name;
}

/** The writes by document: one id may be in several datasets, and at several services. */
function byDocument(found: readonly FoundWrite[]): FoundWrite[][] {
	const documents = new Map<string, FoundWrite[]>();
	// By execution: a resumed run may have written after runs that began later than it, and a clock may have been wrong.
	for (const write of found.toSorted((a, b) => a.order - b.order)) {
		const place = JSON.stringify([write.baseUrl, write.datasetId]);
		const writes = documents.get(place) ?? [];
		writes.push(write);
		documents.set(place, writes);
	}
	return [...documents.values()];
}
