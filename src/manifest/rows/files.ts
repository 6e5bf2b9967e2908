import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { basename, dirname, resolve, sep } from "node:path";
import { errorCode, reason } from "../../errors.ts";
import type { Fault } from "../fault.ts";
import { excerpt } from "../../text/show.ts";
import type { ParsedRow } from "./row-reader.ts";

export type FoundFile = { readonly path: string; readonly name: string };

/** Finds the files of an upload, none of which may lie outside the manifest's folder. */
export class FileFinder {
	readonly #root: string;
	#realRoot: string | undefined;

	constructor(manifest: string, filesRoot: string | undefined) {
		// Paths of a manifest from standard input are relative to where the program was started.
		this.#root = resolve(filesRoot ?? (manifest === "-" ? "." : dirname(manifest)));
	}

	/** @returns the file by its real path, or what is wrong with it */
	async find(parsed: ParsedRow): Promise<FoundFile | Fault> {
		if (parsed.file === "") return fault("is empty; it names the file to upload");
		if (parsed.file.includes("\0")) return fault("holds a NUL character");
		const shown = `"${excerpt(parsed.file)}"`;
		const asked = resolve(this.#root, parsed.file);
		try {
			this.#realRoot ??= await realpath(this.#root);
			const path = await realpath(asked);
			const below = this.#realRoot.endsWith(sep) ? this.#realRoot : this.#realRoot + sep;
			if (!path.startsWith(below))
				return fault(
					`${shown} lies outside ${excerpt(this.#realRoot)}; if it is meant, name a folder above it with --files-root DIR`,
				);
			if (!(await stat(path)).isFile()) return fault(`${shown} is not a regular file`);
			await access(path, constants.R_OK);
			return named(path, parsed.name === "" ? basename(asked) : parsed.name);
		} catch (error) {
			if (errorCode(error) === undefined) throw error;
			return fault(
				errorCode(error) === "ENOENT" ? `${shown} does not exist` : `${shown} cannot be read: ${reason(error)}`,
			);
		}
	}
}

/** A stored name must be no path, and have no character that a terminal or a header would interpret. */
export function isPlainName(name: string): boolean {
	return !/[/\\\p{Cc}\p{Surrogate}]/u.test(name) && name.trim() !== "" && name !== "." && name !== "..";
}

function named(path: string, name: string): FoundFile | Fault {
	if (isPlainName(name)) return { path, name };
	return { field: "name", code: "BAD_NAME", text: `"${excerpt(name)}" is not a plain file name` };
}

function fault(text: string): Fault {
	return { field: "file", code: "BAD_FILE", text };
}
