import { Exit } from "../../errors.ts";
import type { Dataset } from "../../rest/types.ts";
import type { NamedDataset } from "../../run/service/service-memory.ts";
import { allDatasets } from "../../run/documents/pages.ts";
import { SERVICE } from "../../flags/flags.ts";
import { declare } from "../../flags/declare.ts";
import { numberText } from "../../text/words.ts";
import { connectRun } from "../../workflows/open-run.ts";
import { chosenFormat, isTable, LIST, type ListColumn, printList } from "../../workflows/lists/list-output.ts";

export const listCommand = declare({
	summary: "list all datasets",
	description: "Lists all datasets.",
	examples: "ragtag datasets list\nragtag datasets list --format jsonl",
	options: { ...SERVICE, ...LIST },
	run: async (options, app) => {
		await using run = await connectRun("datasets list", options, app);
		const { api, request } = run.session;
		const seen: NamedDataset[] = [];
		const datasets = async function* (): AsyncGenerator<Dataset> {
			for await (const dataset of allDatasets(api, request)) {
				seen.push({ id: dataset.id, name: dataset.name });
				yield dataset;
			}
		};
		const format = chosenFormat(options);
		const shape = {
			columns: [ID, NAME, COUNT],
			json: ({ id, name, documentCount }: Dataset) =>
				JSON.stringify({ dataset_id: id, name, document_count: documentCount ?? null }),
			table: () => [NAME, { ...COUNT, spare: 0 }, ID],
		};
		const count = await printList(datasets(), shape, format, app);
		await (await app.rememberedDatasets(run.settings))?.save(seen);
		if (count === 0) app.io.note("no datasets; create one with: ragtag datasets create NAME");
		else if (isTable(format, app.io) && !app.io.stdoutClosed)
			app.io.note(`${numberText(count)} ${count === 1 ? "dataset" : "datasets"}`);
		return Exit.ok;
	},
});

const ID: ListColumn<Dataset> = { name: "dataset_id", cell: ({ id }) => id, isTyped: true };
const NAME: ListColumn<Dataset> = { name: "name", cell: ({ name }) => name };
const COUNT: ListColumn<Dataset> = {
	name: "document_count",
	cell: ({ documentCount }) => String(documentCount ?? ""),
};
