import type { DatabaseClass } from "../optional.ts";
import { Changes } from "./changes.ts";
import { Commits, type Writes } from "./commits.ts";
import { closeDatabase, type Database, openDatabase } from "./database.ts";
import { Datasets } from "./datasets.ts";
import { Documents } from "./documents.ts";
import { fill, filledDatasetId } from "./fill.ts";
import { Pages } from "./pages.ts";
import { Parsings } from "./parsing.ts";

/** What the sandbox knows: one SQLite file. Writes go through `commits`; reads flush it first. */
export type Store = {
	readonly commits: Writes;
	readonly changes: Changes;
	readonly datasets: Datasets;
	readonly documents: Documents;
	readonly pages: Pages;
	readonly parsing: Parsings;
	/** the dataset that was filled at this start or an earlier one */
	readonly filledDataset: string | undefined;
	close(): void;
};

export function openStore(database: DatabaseClass, path: string, documents: number): Store {
	const opened = openDatabase(database, path);
	try {
		fill(opened, documents);
		return storeOf(opened);
	} catch (error) {
		closeDatabase(opened);
		throw error;
	}
}

function storeOf(database: Database): Store {
	const commits = new Commits(database);
	const changes = new Changes();
	const datasets = new Datasets(database, changes);
	const parsing = new Parsings(database);
	parsing.tidy();
	return {
		commits,
		changes,
		datasets,
		documents: new Documents(database, changes),
		pages: new Pages(database),
		parsing,
		filledDataset: datasets.find(filledDatasetId) === undefined ? undefined : filledDatasetId,
		close() {
			commits.flush();
			closeDatabase(database);
		},
	};
}
