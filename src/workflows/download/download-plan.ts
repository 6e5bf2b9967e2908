import { join } from "node:path";
import { CliError, Exit, usageError } from "../../errors.ts";
import type { Row } from "../../manifest/types.ts";
import type { Document } from "../../rest/types.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import { WARN } from "../../run/documents/searches.ts";
import type { RemoteDocument } from "../../run/documents/stored-documents.ts";
import type { Wanted } from "../../run/operations/download.ts";
import { DownloadFolder } from "../../run/operations/download-folder.ts";
import { rowErrorOf } from "../../run/operations/prepare-update.ts";
import { OWN_PREFIX, PathPlan } from "../../text/safe-paths.ts";
import { show } from "../../text/show.ts";
import { printDocumentsCsv } from "../lists/documents-csv.ts";
import type { Run } from "../open-run.ts";
import type { RowSource } from "../rows/row-source.ts";
import { Locked, takeLock } from "../../run/storage/lock.ts";
import type { Processes } from "../../run/storage/process-owner.ts";

type Listed = Wanted & { readonly name: string };

type FolderFlags = { readonly folder: string } & Readonly<Record<"overwrites" | "onlyChanged" | "dryRun", boolean>>;

/** What a download writes, decided for all rows before the first byte is asked for. */
export type DownloadPlan = Awaited<ReturnType<typeof planDownload>>;

/**
 * Lists the documents of the rows, and gives each a path. A document keeps the path that an earlier download gave it.
 *
 * @throws CliError exit 2 where the rows name several datasets, or the folder can't be used
 */
export async function planDownload(run: Run, rows: RowSource, flags: FolderFlags) {
	const { session, settings, app } = run;
	const { overwrites, onlyChanged, dryRun } = flags;
	const folder = await DownloadFolder.open(flags.folder, !dryRun);
	const documents = new DocumentSource({
		rows: rows.rowsByDataset,
		folder: () => app.temporaryFolder(settings),
		service: session.service,
		doubts: WARN,
	});
	const find = async ({ datasetId, documentId }: Row): Promise<RemoteDocument | undefined> => {
		const api = await session.service.known(session.request);
		return documents.byId(api, session.request, datasetId, documentId).catch((error: unknown) => {
			// The row fails for it when its turn comes.
			if (rowErrorOf(error) === undefined) throw error;
			return undefined;
		});
	};
	try {
		app.monitor.enter("reading", "which documents there are");
		const found = new Map<string, Pick<Document, "name" | "size">>();
		let dataset: string | undefined;
		for await (const row of rows.read()) {
			if (dataset !== undefined && row.datasetId !== dataset) throw severalDatasets(dataset, row.datasetId);
			dataset = row.datasetId;
			const document = await find(row);
			if (document !== undefined) found.set(row.documentId, { name: document.name ?? "", size: document.size });
		}
		const manifest = await manifestName(folder, overwrites, onlyChanged);
		const listed = withPaths(found, folder, manifest);
		const withFile = (row: Row): Row => {
			const document = listed.get(row.documentId);
			if (document === undefined) return row;
			const { name, path } = document;
			return { ...row, name, file: { path: join(folder.root, path), name } };
		};
		/** Writes a manifest of the files that are there. @returns its path; undefined where there is no file */
		const writeManifest = async (): Promise<string | undefined> => {
			let count = 0;
			const kept = async function* (): AsyncGenerator<Document> {
				for await (const row of rows.read()) {
					const { documentId: id, datasetId } = row;
					const target = listed.get(id);
					if (target === undefined || !(await folder.hasFile({ id, path: target.path }))) continue;
					const { metadata, inexact } = (await find(row)) ?? { metadata: undefined };
					count += 1;
					const { name, size } = target;
					yield { id, datasetId, isDatasetNamed: true, name, size, createTime: undefined, metadata, inexact };
				}
			};
			const replaces = overwrites || (onlyChanged && manifest === MANIFEST);
			const columns = [
				{ name: "file", cell: ({ id }: Document) => listed.get(id)?.path ?? "" },
				{ name: "name", cell: ({ name }: Document) => name },
			];
			await folder.write({ id: "", path: manifest }, replaces, async (sink) => {
				const print = (text: string): Promise<void> => sink(Buffer.from(text));
				await printDocumentsCsv(kept(), { settings, app, print, columns });
				return count > 0;
			});
			return count === 0 ? undefined : join(folder.root, manifest);
		};
		return {
			folder,
			/** the rows, with their files */
			rows: {
				...rows,
				readBatches: undefined,
				async *read() {
					for await (const row of rows.read()) yield withFile(row);
				},
			},
			/** undefined for a document that its dataset does not list */
			wanted: ({ documentId }: Pick<Row, "documentId">): Wanted | undefined => listed.get(documentId),
			/** bytes of all documents, as far as the list says them */
			bytes: [...found.values()].reduce((sum, { size = 0 }) => sum + size, 0),
			writeManifest,
			[Symbol.asyncDispose]: () => documents.close(),
		};
	} catch (error) {
		await documents.close();
		throw error;
	}
}

const MANIFEST = "manifest.csv";

/** The name of the manifest. One that is there is replaced only with leave, or if an earlier download left it so. */
async function manifestName(folder: DownloadFolder, overwrites: boolean, onlyChanged: boolean): Promise<string> {
	if (onlyChanged && (await folder.isKept({ id: "", path: MANIFEST }))) return MANIFEST;
	const names = new PathPlan();
	for (;;) {
		const name = names.of(MANIFEST);
		const why: unknown = await folder.check(name, overwrites).catch((error: unknown) => error);
		if (why === undefined) return name;
	}
}

/** Gives each document a path: first those that have one from an earlier download. */
function withPaths(
	found: ReadonlyMap<string, Pick<Document, "name" | "size">>,
	{ records }: DownloadFolder,
	manifest: string,
): ReadonlyMap<string, Listed> {
	const paths = new PathPlan();
	paths.take(MANIFEST);
	paths.take(manifest);
	const before = new Map<string, string>();
	for (const [id, { name }] of found) {
		const path = records.of(id)?.path;
		if (path !== undefined && PathPlan.mayHave(name, path) && paths.take(path)) before.set(id, path);
	}
	return new Map(
		[...found].map(([id, document]) => [id, { ...document, path: before.get(id) ?? paths.of(document.name) }]),
	);
}

function severalDatasets(one: string, other: string): CliError {
	return usageError(
		`the rows name documents of several datasets (${show(one)} and ${show(other)}); nothing was sent`,
		"Download each dataset into a folder of its own: the manifest there uploads them into one dataset.",
	);
}

/** Keeps other downloads of this machine out of a folder. @throws CliError exit 5 while one is going on */
export async function lockFolder(folder: string, processes: Processes): Promise<AsyncDisposable> {
	try {
		return await takeLock(join(folder, `${OWN_PREFIX}downloads`), { processes, force: true });
	} catch (error) {
		if (!(error instanceof Locked)) throw error;
		throw new CliError(`process ${error.owner.pid} downloads into ${folder} now; nothing was sent`, {
			exit: Exit.locked,
			hint: "Wait until it has ended, or name another folder.",
			cause: error,
		});
	}
}
