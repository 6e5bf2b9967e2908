// The other yardstick: reads a CSV manifest as objects with csv-parse, and does nothing with the rows.
//
//   node bench/csv-parse-alone.mjs MANIFEST
import { createReadStream } from "node:fs";
import process from "node:process";
import { parse } from "csv-parse";

let rows = 0;
for await (const row of createReadStream(process.argv[2]).pipe(parse({ columns: true }))) {
	if (row.document_id !== "") rows += 1;
}
if (rows === 0) throw new Error("the manifest has no rows");
