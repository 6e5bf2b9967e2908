import type { FileHandle } from "node:fs/promises";
import { reason } from "../../errors.ts";
import type { CheckedManifest, RowFailure, SourceRecord } from "../../manifest/types.ts";
import { openReport } from "./private-report.ts";

/** Writes failed rows as they come, where no journal has them. Without a failed row an older file stays. */
export class FailedWriter {
	readonly #path: string | undefined;
	readonly #format: CheckedManifest["failedRows"];
	#file: FileHandle | undefined;
	#failure: string | undefined;

	/** @param path undefined where `--failed` was not given */
	constructor(path: string | undefined, format: CheckedManifest["failedRows"]) {
		this.#path = path;
		this.#format = format;
	}

	/** Rows must come in the order of the manifest. Never rejects: a lost report must not end the work. */
	async add(source: SourceRecord, failure: RowFailure): Promise<void> {
		if (this.#path === undefined || this.#failure !== undefined) return;
		try {
			if (this.#file === undefined) {
				this.#file = await openReport(this.#path);
				await this.#file.appendFile(this.#format.head);
			}
			await this.#file.appendFile(this.#format.row(source, failure));
		} catch (error) {
			this.#failure = reason(error);
		}
	}

	/** Where the rows are, and why they could not be written; undefined where `--failed` was not given. */
	async close(): Promise<{ readonly path: string; readonly failure: string | undefined } | undefined> {
		await this.#file?.close().catch((error: unknown) => (this.#failure ??= reason(error)));
		return this.#path === undefined ? undefined : { path: this.#path, failure: this.#failure };
	}
}
