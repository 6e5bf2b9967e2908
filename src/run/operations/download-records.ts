import * as v from "valibot";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { jsonObjectOf } from "../../json/parse-json.ts";

/** A file as it was downloaded: `id` of its document, empty for the manifest; `path` below the folder; `size` in bytes. */
const FILE_RECORD = v.object({ id: v.string(), path: v.string(), size: v.number(), sha256: v.string() });
export type FileRecord = Readonly<v.InferOutput<typeof FILE_RECORD>>;

/** What was downloaded into a folder: one file of JSON lines in it, to which each download adds a line. */
export class DownloadRecords {
	readonly #file: string;
	readonly #byId = new Map<string, FileRecord>();
	/** the document of each path, by its last line */
	readonly #ids = new Map<string, string>();
	#handle: Promise<FileHandle> | undefined;
	#hasHalfLine = false;

	private constructor(file: string) {
		this.#file = file;
	}

	/** Reads the records; none where there is no such file. Lines that this program did not write count for nothing. */
	static async read(file: string): Promise<DownloadRecords> {
		const records = new DownloadRecords(file);
		const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
		if (handle === undefined) return records;
		try {
			const text = await handle.readFile("utf8");
			for (const line of text.split("\n")) records.#add(recordOf(line));
			// A process that was killed may have left half a line.
			records.#hasHalfLine = text !== "" && !text.endsWith("\n");
		} finally {
			await handle.close();
		}
		return records;
	}

	/** The file of a document; undefined where none was written, or where another document has its path now. */
	of(id: string): FileRecord | undefined {
		const record = this.#byId.get(id);
		return record !== undefined && this.#ids.get(record.path) === id ? record : undefined;
	}

	/** Adds a record. Several may be added at once. @throws Error of the system */
	async append(record: FileRecord): Promise<void> {
		const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
		this.#handle ??= open(this.#file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
		const handle = await this.#handle;
		const start = this.#hasHalfLine ? "\n" : "";
		this.#hasHalfLine = false;
		try {
			await handle.appendFile(`${start}${JSON.stringify(record)}\n`);
		} catch (error) {
			// A full disk may have taken a part of it. The next line must not join that.
			this.#hasHalfLine = true;
			throw error;
		}
		this.#add(record);
	}

	async close(): Promise<void> {
		const handle = await this.#handle?.catch(() => undefined);
		await handle?.close();
	}

	#add(record: FileRecord | undefined): void {
		if (record === undefined) return;
		this.#byId.set(record.id, record);
		this.#ids.set(record.path, record.id);
	}
}

function recordOf(line: string): FileRecord | undefined {
	const { success, output } = v.safeParse(FILE_RECORD, jsonObjectOf(line));
	return success ? output : undefined;
}
