import type { Database } from "./database.ts";
import { integerColumn } from "./rows.ts";

/** The dataset that `--documents` fills. A fixed id, so that a manifest can be written before the sandbox runs. */
export const filledDatasetId = "d0000000000000000000000000000001";

/**
 * Fills an empty store with a dataset of `count` documents without metadata, in one transaction.
 *
 * Document N, counted from 1, has N as its id, in hexadecimal with 32 digits: so its manifest can be written beforehand.
 * Counted out inside SQLite: a million rows take some three seconds, and would take as many again from here.
 */
export function fill(database: Database, count: number): void {
	const row = database.prepare("SELECT count(*) AS datasets FROM datasets").get();
	if (count === 0 || integerColumn(row, "datasets") > 0) return;
	database.exec("BEGIN IMMEDIATE");
	try {
		database
			.prepare("INSERT INTO datasets (seq, id, name, name_key, document_count) VALUES (1, ?, 'sandbox', 'sandbox', ?)")
			.run(filledDatasetId, count);
		database
			.prepare(
				"WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?1) " +
					"INSERT INTO documents (seq, dataset, id, name, name_key, size, create_time, update_time, meta_fields) " +
					"SELECT number, 1, printf('%032x', number), printf('document-%07d.txt', number), " +
					"printf('document-%07d.txt', number), 0, ?2, ?2, '{}' FROM numbers",
			)
			.run(count, Date.now());
		database.exec("COMMIT");
	} catch (error) {
		database.exec("ROLLBACK");
		throw error;
	}
}
