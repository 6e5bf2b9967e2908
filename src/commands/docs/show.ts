import { Argument } from "commander";
import { Exit } from "../../errors.ts";
import { declare, toggle } from "../../flags/declare.ts";
import { datasetOption, type GlobalFlags, SERVICE } from "../../flags/flags.ts";
import { parseNonEmpty } from "../../flags/values.ts";
import { metadataText } from "../../json/values.ts";
import { blame } from "../../plan/blame.ts";
import type { Document } from "../../rest/types.ts";
import { show as shown } from "../../text/show.ts";
import { documentJson, timeCell } from "../../workflows/lists/document-table.ts";
import { printList } from "../../workflows/lists/list-output.ts";
import { documentOf } from "../../workflows/named-document.ts";
import { openDataset, type Run } from "../../workflows/open-run.ts";
import { type BlameLine, blameShape, recordedWrites, sourceMembers } from "../../workflows/recorded/blame.ts";
import { numberText, sizeText } from "../../text/words.ts";

export const showCommand = declare({
	summary: "show one document: metadata, and which run set each value",
	description:
		"Shows one document by its id or its exact name: size, time, state of parsing, its metadata, and which recorded run " +
		"of this machine set each value. A name that several documents have is refused, with their ids.",
	examples: "ragtag docs show report.pdf -d DATASET\nragtag docs show 0a1b2c3d -d DATASET --json",
	arguments: {
		"<document>": new Argument("<document>", "id of the document, or its exact name").argParser(parseNonEmpty),
	},
	options: { ...SERVICE, dataset: datasetOption(), json: toggle("--json", "as one JSON object") },
	run: async (options, app) => {
		await using run = await openDataset("docs show", options, app);
		const { session, dataset } = run;
		const document = await documentOf(session, dataset, options.document);
		const lines = await linesOf(document, run);
		if (options.json === true) {
			await app.io.out(`${jsonOf(document, lines)}\n`);
			return Exit.ok;
		}
		for (const [label, text] of factsOf(document, dataset))
			if (text !== undefined) await app.io.print(`${label.padEnd(10)} ${shown(text)}\n`);
		if (document.metadata === undefined) {
			app.io.note("The list does not show the metadata of this document.");
			return Exit.ok;
		}
		if (lines.length === 0) await app.io.print(`${"metadata".padEnd(10)} none\n`);
		else {
			await app.io.print("\n");
			await printList(lines, blameShape(false, false), "table", app);
		}
		return Exit.ok;
	},
});

/** The values that the document has now, each with the run that set it. */
async function linesOf(
	{ id, metadata, inexact }: Document,
	{ session, dataset, flags, app }: Run<GlobalFlags> & { readonly dataset: string },
): Promise<readonly BlameLine[]> {
	if (metadata === undefined) return [];
	const place = { baseUrl: session.baseUrl, datasetId: dataset, documentId: id };
	const all = await recordedWrites(place, flags, app);
	const writes = all.filter(({ datasetId }) => datasetId === dataset).toSorted((one, other) => one.order - other.order);
	// What is there now and no run sent was set by another client.
	const by = { run: "docs show", command: "docs show", manifest: "", line: undefined, status: undefined };
	const present = { by: { ...by, time: Date.now() }, sent: metadata, before: metadata, isCertain: true };
	const history = blame([...writes, present], session.service.api.dialect.flavour.normalise);
	return history.present.map(({ key, to, origin }) => {
		return { ...place, key, to: inexact?.get(key ?? "") ?? to, origin };
	});
}

function factsOf(document: Document, dataset: string): (readonly [label: string, text: string | undefined])[] {
	const { id, name, size, createTime, parsing } = document;
	const { run, progress, chunkCount, chunkMethod, isEnabled, message } = parsing ?? {};
	const state = [
		run,
		run === "RUNNING" && progress !== undefined ? `${Math.floor(progress * 100)} %` : undefined,
		chunkCount === undefined ? undefined : `${numberText(chunkCount)} chunks`,
		chunkMethod === undefined ? undefined : `method ${chunkMethod}`,
		isEnabled === false ? "switched off: no question finds it" : undefined,
	].filter((text) => text !== undefined);
	return [
		["name", name],
		["document", id],
		["dataset", dataset],
		["size", size === undefined ? undefined : sizeText(size)],
		["created", createTime === undefined ? undefined : timeCell(createTime)],
		["parsing", state.length === 0 ? undefined : state.join(", ")],
		["reason", run === "FAIL" ? message?.trim().split("\n").at(-1) : undefined],
	];
}

function jsonOf(document: Document, lines: readonly BlameLine[]): string {
	const { run, progress, message, chunkCount, chunkMethod, isEnabled } = document.parsing ?? {};
	const parsing =
		document.parsing === undefined
			? null
			: {
					run: run ?? null,
					progress: progress ?? null,
					chunk_count: chunkCount ?? null,
					chunk_method: chunkMethod ?? null,
					enabled: isEnabled ?? null,
					message: message ?? null,
				};
	const setBy = new Map(lines.map((line) => [line.key ?? "", line.origin.isRecorded ? sourceMembers(line) : null]));
	return `${documentJson(document, undefined).slice(0, -1)},"parsing":${JSON.stringify(parsing)},"set_by":${metadataText(setBy)}}`;
}
