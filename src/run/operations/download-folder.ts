import { createHash, randomBytes } from "node:crypto";
import { closeSync, constants, openSync, type Stats, writeFileSync } from "node:fs";
import { link, lstat, mkdir, open, readdir, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { CliError, errorCode, Exit, quietly, reason } from "../../errors.ts";
import { sha256Of } from "../../input-file.ts";
import { parseAs } from "../../json/parse-as.ts";
import { rejected, RestError } from "../../rest/errors.ts";
import type { ByteSink } from "../../rest/types.ts";
import { OWN_PREFIX } from "../../text/safe-paths.ts";
import { syncFolder } from "../journal/files.ts";
import { makeFolder } from "../storage/folders.ts";
import { readTextIfThere } from "../storage/quick-files.ts";

/** Documents are files as any other: the mask of the user says who may read them. */
const USUAL_MODE = 0o777;

/** Errors after which no other file can be written either. */
const STORAGE: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO"]);

/** Errors of file systems without hard links. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

const DRAFT = new RegExp(`^\\${OWN_PREFIX}[0-9a-f]{16}\\.part$`);

/** A file as it was downloaded: `id` of its document, empty for the manifest; `path` below the folder; `size` in bytes. */
const FILE_RECORD = v.object({ id: v.string(), path: v.string(), size: v.number(), sha256: v.string() });
type FileRecord = Readonly<v.InferOutput<typeof FILE_RECORD>>;

/** A file below the folder: the id of its document, and its path, which must be one that `PathPlan` gave. */
type Target = Pick<FileRecord, "id" | "path">;

/** The folder that documents are downloaded into. A file in it is whole or not there. */
export class DownloadFolder {
	/** its absolute path, without symbolic links */
	readonly root: string;
	readonly records: DownloadRecords;

	private constructor(root: string, records: DownloadRecords) {
		this.root = root;
		this.records = records;
	}

	/**
	 * @param makes whether the folder is made where it is missing; otherwise it counts as empty
	 * @throws CliError exit 2 where there is no such folder, and none can be made
	 */
	static async open(path: string, makes: boolean): Promise<DownloadFolder> {
		try {
			if (makes) makeFolder(path, USUAL_MODE);
			const root = await realpath(path).catch((error: unknown) => {
				if (makes || errorCode(error) !== "ENOENT") throw error;
				return path;
			});
			const status = await lstat(root).catch(() => undefined);
			if (status?.isDirectory() === false) throw new Error("is no folder");
			return new DownloadFolder(root, new DownloadRecords(join(root, `${OWN_PREFIX}downloads.jsonl`)));
		} catch (error) {
			throw new CliError(`--out ${path}: ${reason(error)}; nothing was sent`, {
				exit: Exit.usage,
				hint: "Name a folder that can be written; it is made where it is missing.",
				cause: error,
			});
		}
	}

	/** Removes what a process that was killed has left half written. Only while no other process writes here. */
	async removeDrafts(): Promise<void> {
		for (const name of await readdir(this.root)) {
			if (DRAFT.test(name)) await rm(join(this.root, name), { force: true });
		}
	}

	/** What is at a path, of which a symbolic link is not followed. */
	#at(path: string): Promise<Stats | undefined> {
		return lstat(join(this.root, path)).catch(() => undefined);
	}

	/** Whether a file is there as it was downloaded. @param size bytes that its document has now; undefined if not known */
	async isKept({ id, path }: Target, size?: number): Promise<boolean> {
		const record = this.records.of(id);
		if (record?.path !== path || (size !== undefined && size !== record.size)) return false;
		if (!(await this.hasFile({ id, path }))) return false;
		return (await sha256Of(join(this.root, path)).catch(() => undefined)) === record.sha256;
	}

	/** Whether a file of the recorded size is there, whatever its bytes are. */
	async hasFile({ id, path }: Target): Promise<boolean> {
		const record = this.records.of(id);
		const status = record?.path === path ? await this.#at(path) : undefined;
		return status?.isFile() === true && status.size === record?.size;
	}

	/** @throws RestError of code `FILE_EXISTS` where something is there that may not be written over */
	async check(path: string, overwrites: boolean): Promise<void> {
		const status = await this.#at(path);
		if (status === undefined) return;
		if (status.isDirectory()) {
			throw rejected(
				"FILE_EXISTS",
				`${join(this.root, path)} is a folder, which is never written over; nothing was written`,
			);
		}
		if (!overwrites) throw exists(join(this.root, path));
	}

	/**
	 * Writes a file beside its place, and gives it its name when it is whole.
	 *
	 * @param fill writes the bytes; resolves with whether the file is kept
	 * @throws RestError where its folder leads elsewhere, or another file has the name; CliError where the disk is full
	 */
	async write({ id, path }: Target, overwrites: boolean, fill: (sink: ByteSink) => Promise<boolean>): Promise<void> {
		await this.#makeFolders(path);
		const target = join(this.root, path);
		const temporary = join(this.root, `${OWN_PREFIX}${randomBytes(8).toString("hex")}.part`);
		const failed = (error: unknown): never => {
			throw errorCode(error) === "EEXIST" ? exists(target) : unwritable(target, error);
		};
		const file = await open(temporary, "wx").catch(failed);
		const digest = createHash("sha256");
		let size = 0;
		const keep = async (): Promise<void> => {
			await file.sync();
			await file.close();
			this.records.append({ id, path, size, sha256: digest.digest("hex") });
			await (overwrites ? rename(temporary, target) : moveToNew(temporary, target));
			// The new name survives a loss of power. Not every system can sync a folder.
			await syncFolder(dirname(target)).catch(() => undefined);
		};
		try {
			const isKept = await fill(async (bytes) => {
				await file.writeFile(bytes).catch(failed);
				digest.update(bytes);
				size += bytes.length;
			});
			if (isKept) await keep().catch(failed);
		} finally {
			await file.close().catch(() => undefined);
			await rm(temporary, { force: true }).catch(() => undefined);
		}
	}

	/** Makes the folders of a path. @throws RestError where one of them is a link: it may lead out of the folder */
	async #makeFolders(path: string): Promise<void> {
		const parts = path.split("/").slice(0, -1);
		let folder = this.root;
		for (const part of parts) {
			folder = join(folder, part);
			await mkdir(folder).catch((error: unknown) => {
				if (errorCode(error) !== "EEXIST") throw unwritable(folder, error);
			});
			const status = await lstat(folder).catch(() => undefined);
			if (status?.isDirectory() === true) continue;
			const what = status?.isSymbolicLink() === true ? "a symbolic link" : "no folder";
			throw rejected("FILE_UNWRITABLE", `${folder} is ${what}, which is not followed; nothing was written`);
		}
	}
}

/** Gives a file a name that nothing has, in one step where the file system has hard links. */
async function moveToNew(temporary: string, target: string): Promise<void> {
	try {
		await link(temporary, target);
	} catch (error) {
		if (!NO_LINKS.has(errorCode(error))) throw error;
		if ((await lstat(target).catch(() => undefined)) !== undefined) throw exists(target);
		await rename(temporary, target);
	}
}

function exists(target: string): RestError {
	return rejected("FILE_EXISTS", `${target} is there already; --force writes over it. Nothing was written`);
}

/** The error of a file: of its row alone, or the end of the run where no other can be written either. */
function unwritable(target: string, error: unknown): unknown {
	if (error instanceof RestError || error instanceof CliError) return error;
	if (!STORAGE.has(errorCode(error))) {
		return rejected("FILE_UNWRITABLE", `${target} can't be written: ${reason(error)}`);
	}
	return new CliError(`${target} can't be written: ${reason(error)}; no half file was left`, {
		exit: Exit.storage,
		hint: "Make room on that disk, then resume the run.",
		cause: error,
	});
}

/** What was downloaded into a folder: one file of JSON lines in it, to which each download adds a line. */
class DownloadRecords {
	readonly #file: string;
	readonly #byId = new Map<string, FileRecord>();
	/** the document of each path, by its last line */
	readonly #ids = new Map<string, string>();
	#hasHalfLine: boolean;

	/** Reads the records; none where there is no such file. Lines that this program did not write count for nothing. */
	constructor(file: string) {
		this.#file = file;
		const text = quietly(() => readTextIfThere(file, constants.O_NOFOLLOW)) ?? "";
		for (const line of text.split("\n")) {
			const record = parseAs(FILE_RECORD, line);
			if (record !== undefined) this.#add(record);
		}
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

	#add(record: FileRecord): void {
		this.#byId.set(record.id, record);
		this.#ids.set(record.path, record.id);
	}
}
