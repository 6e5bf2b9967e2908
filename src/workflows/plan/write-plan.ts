import { randomBytes } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { CliError, Exit, reason, usageError } from "../../errors.ts";
import type { PlanCounts, PlanHeader, PlannedChange } from "../../plan/plan-file/planned.ts";
import { PlanText } from "../../plan/plan-file/encode.ts";
import { MAX_LINE_BYTES } from "../../run/journal/encode.ts";
import { syncFolder } from "../../run/journal/files.ts";
import { identityOf } from "../outputs/prepare.ts";

const NAME_A_FILE = "Name a file that can be written.";

/** Checks `--out` before the first request. @throws CliError exit 2 where a plan may not be written there */
export async function checkOut(
	out: string,
	other: { readonly manifest: string; readonly failed: string | undefined; readonly force: boolean },
): Promise<void> {
	const { manifest, failed, force } = other;
	if (out === "-") {
		throw usageError("--out takes a file name, and - is none; nothing was sent");
	}
	const identity = await identityOf(out);
	if (manifest !== "-" && identity === (await identityOf(manifest))) {
		throw usageError(`--out ${out} is the manifest itself; nothing was sent`, "Name another file.");
	}
	if (failed !== undefined && identity === (await identityOf(failed))) {
		const text = `--out ${out} is the file of --failed, and each would overwrite the other; nothing was sent`;
		throw usageError(text, "Name another file.");
	}
	const there = await stat(out).catch(() => undefined);
	if (there !== undefined && !there.isFile()) {
		throw usageError(`--out ${out}: is no regular file; nothing was sent`, NAME_A_FILE);
	}
	if (there !== undefined && !force) throw isThereAlready(out);
	await access(dirname(resolve(out)), constants.W_OK | constants.X_OK).catch((error: unknown) => {
		throw notMade(out, error);
	});
}

/**
 * Writes a plan to a temporary file in the folder of `--out`, and renames it when it is complete. So an incomplete plan never
 * has the name of a complete one.
 */
export class PlanWriter {
	readonly #out: string;
	readonly #force: boolean;
	readonly #path: string;
	readonly #file: FileHandle;
	readonly #text = new PlanText();
	#isComplete = false;

	private constructor(out: string, force: boolean, path: string, file: FileHandle) {
		this.#out = out;
		this.#force = force;
		this.#path = path;
		this.#file = file;
	}

	/** @throws CliError exit 2 where no file can be created there */
	static async create(out: string, force: boolean, header: PlanHeader): Promise<PlanWriter> {
		const path = join(dirname(out), `.${basename(out)}.${randomBytes(6).toString("hex")}`);
		const file = await open(path, "wx", 0o600).catch((error: unknown) => {
			throw notMade(out, error);
		});
		const writer = new PlanWriter(out, force, path, file);
		try {
			await writer.#append(writer.#text.header(header));
			return writer;
		} catch (error) {
			await writer[Symbol.asyncDispose]();
			throw error;
		}
	}

	async change(planned: PlannedChange): Promise<void> {
		const line = this.#text.change(planned);
		if (Buffer.byteLength(line) > MAX_LINE_BYTES) {
			const text = `the change of document ${planned.documentId} is too long for a plan: more than ${MAX_LINE_BYTES} bytes`;
			throw new CliError(text, { exit: Exit.output, hint: "Leave its row out, and send it with docs tag." });
		}
		await this.#append(line);
	}

	/** Completes the plan and renames it to `--out`. */
	async end(counts: Omit<PlanCounts, "changes">): Promise<void> {
		await this.#append(this.#text.footer(counts));
		await this.#written(async () => {
			await this.#file.sync();
			// Checked again: another program may have created the file while documents were read.
			if (!this.#force && existsSync(this.#out)) throw isThereAlready(this.#out);
			await rename(this.#path, this.#out);
			this.#isComplete = true;
			await syncFolder(dirname(this.#out));
		});
	}

	/** Removes an incomplete plan. */
	async [Symbol.asyncDispose](): Promise<void> {
		await this.#file.close().catch(() => undefined);
		if (!this.#isComplete) await rm(this.#path, { force: true });
	}

	#append(text: string): Promise<void> {
		return this.#written(() => this.#file.appendFile(text));
	}

	async #written(work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (error) {
			if (error instanceof CliError) throw error;
			throw new CliError(`--out ${this.#out}: ${reason(error)}`, {
				exit: Exit.output,
				hint: "Free some space there, or name another file, and run the same command again.",
				cause: error,
			});
		}
	}
}

function notMade(out: string, cause: unknown): CliError {
	return usageError(`--out ${out}: ${reason(cause)}; nothing was sent`, NAME_A_FILE, cause);
}

function isThereAlready(out: string): CliError {
	const hint = "Name another file, or overwrite it with --force.";
	return usageError(`--out ${out}: exists already; nothing was sent`, hint);
}
