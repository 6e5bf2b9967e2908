import { Argument } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit } from "../../errors.ts";
import { blame as blameOf } from "../../plan/blame.ts";
import { rememberedNormalise } from "../../run/service/service-memory.ts";
import { namedDocument, show } from "../../text/show.ts";
import { declare, toggle } from "../../flags/declare.ts";
import { datasetOption, type Given, type GlobalFlags, VERBOSITY } from "../../flags/flags.ts";
import { isDatasetId } from "../../workflows/dataset.ts";
import { chosenFormat, isTable, LIST, printList } from "../../workflows/lists/list-output.ts";
import { documentOfName } from "../../workflows/named-document.ts";
import { openDataset } from "../../workflows/open-run.ts";
import {
	type BlameLine,
	blameShape,
	byDocument,
	type FoundWrite,
	type Place,
	recordedWrites,
} from "../../workflows/recorded/blame.ts";
import { parseNonEmpty } from "../../flags/values.ts";

type BlameFlags = GlobalFlags & Given<{ dataset: string }>;

export const blameCommand = declare({
	summary: "show which run, row and manifest set each value of a document",
	description:
		"Shows which recorded run set each present value of a document, with its time and the row of its manifest. For a name it asks the service. It reads recorded runs only and does not know what other clients wrote since; ragtag docs list shows what the service has.",
	examples:
		"ragtag runs blame DOCUMENT\nragtag runs blame report.pdf -d DATASET\nragtag runs blame DOCUMENT --all\nragtag runs blame DOCUMENT --json | jq 'select(.key == \"url\")'",
	arguments: {
		"<document>": new Argument("<document>", "id of the document, or with -d its exact name").argParser(parseNonEmpty),
	},
	options: {
		...VERBOSITY,
		...LIST,
		dataset: datasetOption("only the document of that dataset"),
		all: toggle("--all", "all changes of the document, the oldest first"),
	},
	run: async ({ document: given, ...flags }, app) => {
		const settings = await app.settings(flags);
		// Only an address that was typed selects documents; one from the environment does not.
		const isTyped = flags.baseUrl !== undefined || flags.profile !== undefined;
		const place = { documentId: given, baseUrl: isTyped ? app.baseUrl(settings) : undefined };
		const writes = await recordedWrites(place, flags, app);
		const named = writes.length === 0 ? await placeOfName(given, flags, app) : undefined;
		const { documentId = given } = named ?? {};
		const found =
			named === undefined
				? await ofDataset(writes, flags, app)
				: (await recordedWrites(named, flags, app)).filter(({ datasetId }) => datasetId === named.datasetId);
		if (found.length === 0) {
			const mayBeName = writes.length === 0 && named === undefined && !isDatasetId(given);
			const where = writes.length === 0 ? "" : ` in dataset ${show(flags.dataset ?? "")}`;
			throw new CliError(`no recorded run wrote document ${namedDocument(named && given, documentId)}${where}`, {
				exit: Exit.failedRows,
				hint: `${mayBeName ? "If that is its name, add -d DATASET. " : ""}ragtag runs list shows the recorded runs, and ragtag docs list shows what the service has.`,
			});
		}
		const documents: { readonly title: string; readonly lines: readonly BlameLine[] }[] = [];
		for (const ofDocument of byDocument(found)) {
			const [{ datasetId, baseUrl } = { datasetId: "", baseUrl: "" }] = ofDocument;
			const history = blameOf(ofDocument, await rememberedNormalise(settings.stateDir?.value, baseUrl));
			const lines = flags.all === true ? history.events : history.present;
			const place = { baseUrl, datasetId, documentId };
			const title = `In dataset ${show(datasetId)} at ${show(baseUrl)}:\n`;
			documents.push({ title, lines: lines.map((line) => ({ ...place, ...line })) });
		}
		const format = chosenFormat(flags);
		const asTable = isTable(format, app.io);
		const shape = blameShape(flags.all === true, !asTable);
		// Other formats have one list, with the place in each line.
		const lists = asTable ? documents : [{ title: "", lines: documents.flatMap(({ lines }) => lines) }];
		for (const { title, lines } of lists) {
			if (lists.length > 1) await app.io.print(title);
			await printList(lines, shape, format, app);
		}
		return Exit.ok;
	},
});

/** The document that the service has under a name. Undefined where the text is an id for certain, or no dataset is named. */
async function placeOfName(text: string, flags: BlameFlags, app: App): Promise<Place | undefined> {
	const { dataset: ofProfile } = await app.settings(flags);
	if (isDatasetId(text) || (flags.dataset ?? ofProfile) === undefined) return undefined;
	await using run = await openDataset("runs blame", flags, app);
	const { session, dataset } = run;
	const { id } = await documentOfName(session, dataset, text);
	return { documentId: id, datasetId: dataset, baseUrl: session.baseUrl };
}

/** The writes in the dataset of `-d`. The service is asked only for a name: records have ids. */
async function ofDataset(writes: readonly FoundWrite[], flags: BlameFlags, app: App): Promise<readonly FoundWrite[]> {
	const { dataset } = flags;
	const of = (id: string | undefined): readonly FoundWrite[] => writes.filter(({ datasetId }) => datasetId === id);
	if (dataset === undefined) return writes;
	if (writes.length === 0 || isDatasetId(dataset) || of(dataset).length > 0) return of(dataset);
	await using run = await openDataset("runs blame", flags, app);
	return of(run.dataset);
}
