import type { App } from "../../app.ts";
import { CliError, Exit, reason } from "../../errors.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import type { BlamedWrite } from "../../plan/blame.ts";
import { readRun } from "../../run/journal/reader.ts";
import { type WrittenRow, writesTo } from "../../run/recorded/recorded-rows.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { rememberedNormalise } from "../../run/service/service-memory.ts";
import { APPLY } from "../plan/open-plan.ts";
import type { Source } from "./blame-columns.ts";
import { noteDamaged } from "./choose-run.ts";

/** The document whose writes are wanted. */
type Query = {
	readonly documentId: string;
	/** only this address; undefined for all */
	readonly baseUrl: string | undefined;
};

/** A write of a recorded run. */
export type FoundWrite = BlamedWrite<Source> & {
	readonly datasetId: string;
	readonly baseUrl: string;
	/** number of the execution that sent it */
	readonly order: number;
};

/** The writes of all recorded runs to a document. */
export async function recordedWrites(query: Query, flags: GlobalFlags, app: App): Promise<readonly FoundWrite[]> {
	const settings = await app.settings(flags);
	const runs = app.runs(settings);
	const writes: FoundWrite[] = [];
	const all = await runs.files();
	noteDamaged(runs, flags, app);
	const about = { runs, query, flags, stateDir: settings.stateDir?.value };
	for (const file of all.toReversed()) writes.push(...(await writesOf(file, about, app)));
	return writes;
}

type About = {
	readonly runs: RunStore;
	readonly query: Query;
	readonly flags: GlobalFlags;
	readonly stateDir: string | undefined;
};

/** The writes of one run to the document. A run that can't be read does not hide the others. */
async function writesOf(
	file: RunFile,
	{ runs, query, flags, stateDir }: About,
	{ io }: App,
): Promise<readonly FoundWrite[]> {
	const name = file.run;
	try {
		if (query.baseUrl !== undefined && file.baseUrl !== query.baseUrl) return [];
		const normalise = await rememberedNormalise(stateDir, file.baseUrl);
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
		if (!(error instanceof CliError)) throw error;
		const mend = withFlags(`ragtag runs repair ${name}`, flags);
		const hint = error.exit === Exit.foreign ? "Use the version of ragtag that wrote it." : `To include it: ${mend}`;
		io.note(`warning: run ${name} is left out: ${reason(error)}. ${hint}`);
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
export function byDocument(found: readonly FoundWrite[]): FoundWrite[][] {
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
