import type { DatabaseClass } from "../sqlite.ts";
import { closeDatabase, type Database, integerColumn, openDatabase } from "./database.ts";
import { Datasets } from "./datasets.ts";
import { Documents } from "./documents.ts";
import { Pages } from "./pages.ts";
import { ParserSettingsTable } from "./parser-settings.ts";
import { ParsingStates } from "./parsing-states.ts";
import { SearchEngine } from "./search-engine.ts";
import { Changes, Commits, type Writes } from "./writes.ts";

/** The data of the sandbox, in one SQLite file. Writes go through `commits`; reads flush it first. */
export type Store = {
	readonly commits: Writes;
	readonly changes: Changes;
	readonly datasets: Datasets;
	readonly documents: Documents;
	readonly pages: Pages;
	readonly parserSettings: ParserSettingsTable;
	readonly parsingStates: ParsingStates;
	readonly searchEngine: SearchEngine;
	/** the dataset that was filled at this start or at an earlier one */
	readonly filledDataset: string | undefined;
	close(): void;
};

/** The dataset that `--documents` fills. A fixed id, so that a manifest can be written before the sandbox runs. */
export const filledDatasetId = "d0000000000000000000000000000001";

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
	const documents = new Documents(database, changes);
	const parserSettings = new ParserSettingsTable(database);
	parserSettings.removeOrphans();
	return {
		commits,
		changes,
		datasets,
		documents,
		pages: new Pages(database),
		parserSettings,
		parsingStates: new ParsingStates(database),
		searchEngine: new SearchEngine(documents),
		filledDataset: datasets.find(filledDatasetId) === undefined ? undefined : filledDatasetId,
		close() {
			commits.flush();
			closeDatabase(database);
		},
	};
}

/**
 * Fills an empty store with a dataset of `count` documents without metadata, in one transaction.
 *
 * Document N, counted from 1, has N as its id, in hexadecimal with 32 digits: so its manifest can be written before.
 * Each is a millisecond older than the next, as if they had been uploaded one after another: equal times make the releases
 * of RAGFlow hide documents between pages, and every list of this dataset would be read several times.
 * SQLite counts by itself: a million rows then take about three seconds, half of what single inserts take.
 */
function fill(database: Database, count: number): void {
	const row = database.prepare("SELECT count(*) AS datasets FROM datasets").get();
	if (count === 0 || integerColumn(row, "datasets") > 0) return;
	const start = Date.now() - count;
	database.exec("BEGIN IMMEDIATE");
	try {
		database
			.prepare("INSERT INTO datasets (seq, id, name, name_key, document_count) VALUES (1, ?, 'sandbox', 'sandbox', ?)")
			.run(filledDatasetId, count);
		database
			.prepare(
				"WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?) " +
					"INSERT INTO documents (seq, dataset, id, name, name_key, size, create_time, update_time, meta_fields) " +
					"SELECT number, 1, printf('%032x', number), printf('document-%07d.txt', number), " +
					"printf('document-%07d.txt', number), 0, ? + number, ? + number, '{}' FROM numbers",
			)
			.run(count, start, start);
		database.exec("COMMIT");
	} catch (error) {
		database.exec("ROLLBACK");
		throw error;
	}
}
