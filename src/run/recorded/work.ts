import { basename, dirname } from "node:path";
import type { RunFile } from "./run-file.ts";

/** What tells the work of a run. */
export type WorkFile = Pick<RunFile, "command" | "baseUrl" | "options"> & {
	readonly manifest: Pick<RunFile["manifest"], "name" | "sha256"> & {
		/** absolute; undefined where the run keeps a copy */
		readonly path: string | undefined;
	};
};

/** What stands in place of a manifest's name where it was typed: the files of an upload, the ids of a removal. */
const TYPED: readonly string[] = ["files", "--id"];

/**
 * What a run and a later one have in common where the later one takes the place of the earlier: command, target, and
 * where the rows come from. The same manifest with other content or other options is the same work: its documents are
 * not what the earlier run left any more.
 *
 * What comes through a pipe has no path, and all of it counts as one manifest. What was typed is told by itself, and a
 * filter by its options too, as `--set` is all that it writes.
 */
export function workOf({ command, baseUrl, options, manifest }: WorkFile): string {
	const { name, path, sha256 } = manifest;
	const from =
		path !== undefined
			? ["path", path]
			: TYPED.includes(name)
				? ["typed", name, sha256]
				: ["copy", name, name.startsWith("--") ? JSON.stringify(options) : ""];
	return JSON.stringify([command, baseUrl, ...from]);
}

/** The same of a recorded run. */
export function recordedWork({ run, manifest, ...file }: RunFile): string {
	const { path } = manifest;
	// Wherever the state folder was when it began.
	const isCopy = basename(path) === "manifest" && basename(dirname(path)) === run;
	return workOf({ ...file, manifest: { ...manifest, path: isCopy ? undefined : path } });
}
