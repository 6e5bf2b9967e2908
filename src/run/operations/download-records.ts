import * as v from "valibot";
import { closeSync, constants, openSync, writeFileSync } from "node:fs";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { readTextIfThere } from "../storage/quick-files.ts";

/** A file as it was downloaded: `id` of its document, empty for the manifest; `path` below the folder; `size` in bytes. */
const FILE_RECORD = v.object({ id: v.string(), path: v.string(), size: v.number(), sha256: v.string() });
export type FileRecord = Readonly<v.InferOutput<typeof FILE_RECORD>>;

/** What was downloaded into a folder: one file of JSON lines in it, to which each download adds a line. */
export class DownloadRecords {
	readonly #file: string;
	readonly #byId = new Map<string, FileRecord>();
	/** the document of each path, by its last line */
	readonly #ids = new Map<string, string>();
	#hasHalfLine: boolean;

	/** Reads the records; none where there is no such file. Lines that this program did not write count for nothing. */
	constructor(file: string) {
		this.#file = file;
		const text = textOf(file);
		for (const line of text.split("\n")) this.#add(recordOf(line));
		// A process that was killed may have left half a line.
		this.#hasHalfLine = text !== "" && !text.endsWith("\n");
	}

	/** The file of a document; undefined where none was written, or where another document has its path now. */
	of(id: string): FileRecord | undefined {
		const record = this.#byId.get(id);
		return record !== undefined && this.#ids.get(record.path) === id ? record : undefined;
	}

	/** Adds a record. @throws Error of the system */
	append(record: FileRecord): void {
		const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
		const file = openSync(this.#file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
		try {
			const start = this.#hasHalfLine ? "\n" : "";
			// A full disk may take a part of it. The next line must not join that.
			this.#hasHalfLine = true;
			writeFileSync(file, `${start}${JSON.stringify(record)}\n`);
			this.#hasHalfLine = false;
		} finally {
			closeSync(file);
		}
		this.#add(record);
	}

	#add(record: FileRecord | undefined): void {
		if (record === undefined) return;
		this.#byId.set(record.id, record);
		this.#ids.set(record.path, record.id);
	}
}

function textOf(file: string): string {
	try {
		return readTextIfThere(file, constants.O_NOFOLLOW) ?? "";
	} catch {
		return "";
	}
}

function recordOf(line: string): FileRecord | undefined {
	const { success, output } = v.safeParse(FILE_RECORD, jsonObjectOf(line));
	return success ? output : undefined;
}
