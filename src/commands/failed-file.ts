import { constants } from "node:fs";
import { access, type FileHandle, open, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CliError, Exit, reason } from "../errors.ts";
import type { FailedRowFormat, SourceRecord } from "../manifest/types.ts";
import type { Outcome, Work } from "../run/types.ts";

/** The file of failed rows: opened at the first failure, so that a run without one leaves an older file alone. */
export class FailedFile {
	readonly #path: string;
	readonly #format: FailedRowFormat;
	#file: Promise<FileHandle> | undefined;
	#last: Promise<void> = Promise.resolve();
	rows = 0;
	/** why it could not be written: the run goes on, and ends in exit 74 */
	failure: string | undefined;

	constructor(path: string, format: FailedRowFormat) {
		this.#path = path;
		this.#format = format;
	}

	/** Resolves when the row is in the file. Never rejects. */
	add({ item, error, attempts }: Outcome<Work & { readonly source: SourceRecord }>): Promise<void> {
		const failure = { line: item.line, errorCode: error?.code ?? "", error: error?.text ?? "", attempts };
		const text = this.#format.row(item.source, failure);
		// One after another: rows of a file must not run into each other.
		this.#last = this.#last.then(async () => {
			if (this.failure !== undefined) return;
			try {
				const first = this.#file === undefined;
				this.#file ??= open(this.#path, "w", 0o600);
				const file = await this.#file;
				await file.appendFile(first ? this.#format.head + text : text);
				this.rows += 1;
			} catch (error) {
				this.failure = reason(error);
			}
		});
		return this.#last;
	}

	async close(): Promise<void> {
		await this.#last;
		try {
			await (await this.#file)?.close();
		} catch (error) {
			this.failure ??= reason(error);
		}
	}
}

/** Before anything is sent: the file can be made, and is not the manifest that is being read. */
export async function checkFailedPath(path: string, manifest: string): Promise<void> {
	const folder = dirname(resolve(path));
	try {
		await access(folder, constants.W_OK | constants.X_OK);
	} catch (error) {
		throw new CliError(`--failed ${path}: ${reason(error)}; nothing was sent`, { exit: Exit.usage, cause: error });
	}
	const same = async (name: string): Promise<string> => realpath(name).catch(() => resolve(name));
	if (manifest !== "-" && (await same(path)) === (await same(manifest))) {
		throw new CliError(`--failed ${path} is the manifest itself; nothing was sent`, {
			exit: Exit.usage,
			hint: "Name another file: the manifest is read while failed rows are written.",
		});
	}
}
