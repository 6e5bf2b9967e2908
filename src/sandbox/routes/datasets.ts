import { jsonObject, mediaType, readBody } from "../body.ts";
import { Refusal } from "../envelope.ts";
import { checkDatasetName } from "../names.ts";
import { filterOf, windowOf } from "../query.ts";
import { jsonBodyLimit } from "../settings.ts";
import { newId, type Route } from "./call.ts";

/** GET /datasets */
export const listDatasets: Route = async ({ query }, { store, settings }) => {
	const id = filterOf(query, "id");
	const name = filterOf(query, "name");
	const window = windowOf(query, settings);
	store.commits.flush();
	return JSON.stringify(store.datasets.list({ id, name, window }));
};

/** POST /datasets */
export const createDataset: Route = async ({ request }, { store }) => {
	if (mediaType(request) !== "application/json") throw new Refusal(415, "a dataset is created with application/json");
	const { members } = jsonObject(await readBody(request, jsonBodyLimit));
	const name = checkDatasetName(members["name"]);
	const id = newId();
	await store.commits.write(() => store.datasets.insert(id, name));
	return JSON.stringify({ id, name });
};
