import { lstat, readdir, realpath, stat } from "node:fs/promises";
import type { Stats } from "node:fs";
import { basename, dirname, isAbsolute, join, relative as pathBetween, resolve, sep } from "node:path";
import { errorCode, reason } from "../errors.ts";
import { type FileFacts, factsOf, inFolder, isAbove, type Place } from "./facts.ts";
import type { Filters } from "./filters.ts";

type WalkOptions = {
	readonly filters: Filters;
	/** whether symbolic links are followed, each target once; they are left out otherwise */
	readonly follow: boolean;
	/** the ending of sidecars: such a file belongs to the file before the ending, and is no file of its own */
	readonly sidecarSuffix: string | undefined;
	readonly signal?: AbortSignal | undefined;
	/** called with the number of files so far */
	readonly onProgress?: ((files: number) => void) | undefined;
};

/** A folder or a file that could not be read, or a sidecar without its file. */
export type FileProblem = {
	/** the path, from where the program was started if it was named so */
	readonly path: string;
	/** a clause: `permission denied` */
	readonly text: string;
};

/** What was found in folders. */
export type Tree = {
	/** those of each source together, in the order of their paths */
	readonly files: readonly FileFacts[];
	readonly problems: readonly FileProblem[];
	/** symbolic links that were left out: all of them, or those whose target was taken already */
	readonly links: number;
	/** pipes, sockets and devices, which are left out */
	readonly others: number;
};

/** Status requests at once. The system's threads are few; more would only take memory. */
const AT_ONCE = 64;

/**
 * All files that the paths name: files themselves, and those in folders, however deep. Hidden ones of a folder are left out.
 * Memory grows with the number of files, as their names must be compared.
 */
export async function walkPaths(paths: readonly string[], options: WalkOptions): Promise<Tree> {
	const walk = walkOf(options);
	const all = new Map(paths.map((path) => [resolve(path), path]));
	for (const path of paths) await walk.named(path, all);
	return walk.end();
}

/**
 * The files of a list, each by its path from `folder`. Folders in it are read, links are left out as in a folder.
 *
 * @param folder from which relative paths of the list count, and in which all of them must be
 * @throws Error of the system where the folder is not there
 */
export async function walkListed(folder: string, listed: readonly string[], options: WalkOptions): Promise<Tree> {
	const walk = walkOf(options);
	const top = { folder, real: await realpath(folder) };
	for (const path of listed) await walk.listed(top, path);
	return walk.end();
}

function walkOf({ filters, follow, sidecarSuffix: suffix, signal, onProgress }: WalkOptions) {
	const files: FileFacts[] = [];
	const problems: FileProblem[] = [];
	/** the links of the source that is read; they come after its files */
	let links: Place[] = [];
	let leftLinks = 0;
	let others = 0;
	/** real paths of the folders and files that were taken. Not inodes: some file systems have none */
	const taken = new Set<string>();

	const problem = (path: string, text: string): void => void problems.push({ path, text });
	/** What the system answers about a path; undefined where it refuses, which is a problem. */
	const ask = async <Answer>(path: string, request: (path: string) => Promise<Answer>): Promise<Answer | undefined> => {
		try {
			return await request(path);
		} catch (error) {
			// Node replaces bytes that are no UTF-8, and such a name opens nothing.
			const isOdd = errorCode(error) === "ENOENT" && path.includes("\ufffd");
			problem(path, isOdd ? "has a name that is not UTF-8; rename it" : reason(error));
			return undefined;
		}
	};
	/** The sidecar that lies beside a file, whether or not the filters or a list have it. */
	const sidecarOf = async (path: string): Promise<string | undefined> =>
		suffix !== undefined && (await isFile(path + suffix)) ? resolve(path + suffix) : undefined;
	const takeFile = ({ path, relative, real }: Place, status: Stats, sidecar?: string): void => {
		if (!filters.takes(relative) || taken.has(real)) return;
		taken.add(real);
		files.push(factsOf({ path: resolve(path), relative, sidecar }, status));
	};
	/** Something in a folder or a list that is no folder. A sidecar is put down for its file. */
	const takeFound = async (place: Place, status: Stats, sidecar = sidecarOf(place.path)): Promise<void> => {
		if (suffix !== undefined && place.path.endsWith(suffix)) {
			if (!(await isFile(place.path.slice(0, -suffix.length)))) problem(place.path, NO_FILE);
		} else if (status.isFile()) takeFile(place, status, await sidecar);
		else others += 1;
	};
	const readFolder = async (place: Place): Promise<void> => {
		if (taken.has(place.real)) return;
		taken.add(place.real);
		signal?.throwIfAborted();
		const entries = await ask(place.path, (path) => readdir(path, { withFileTypes: true }));
		const visible = (entries ?? [])
			.filter(({ name }) => !name.startsWith("."))
			.toSorted((one, other) => (one.name < other.name ? -1 : 1));
		for (let at = 0; at < visible.length; at += AT_ONCE) {
			const asked = visible.slice(at, at + AT_ONCE).map(async ({ name }) => {
				const inside = inFolder(place, name);
				const sidecar = sidecarOf(inside.path);
				return { inside, status: await ask<Stats>(inside.path, lstat), sidecar };
			});
			for (const { inside, status, sidecar } of await Promise.all(asked)) {
				if (status === undefined) continue;
				if (status.isSymbolicLink()) links.push(inside);
				else if (!status.isDirectory()) await takeFound(inside, status, sidecar);
				else if (filters.enters(inside.relative)) await readFolder(inside);
			}
		}
		onProgress?.(files.length);
	};
	/** Follows a link. It is left out if its target was taken before, so a circle of links ends. */
	const followLink = async (link: Place): Promise<void> => {
		const status = await ask<Stats>(link.path, stat);
		const real = status && (await ask<string>(link.path, realpath));
		if (status === undefined || real === undefined) return;
		const target = { ...link, real };
		if (taken.has(real)) leftLinks += 1;
		else if (!status.isDirectory()) await takeFound(target, status);
		else if (filters.enters(link.relative)) await readFolder(target);
	};
	/** Reads one source: its files, then what its links lead to, because a file is taken at its own place first. */
	const readSource = async (read: () => Promise<void>): Promise<void> => {
		const first = files.length;
		await read();
		if (!follow) leftLinks += links.length;
		// Links that are found on the way are appended.
		else for (const link of links) await followLink(link);
		links = [];
		const own = files.splice(first).toSorted((one, other) => (one.relative < other.relative ? -1 : 1));
		for (const file of own) files.push(file);
	};
	return {
		/**
		 * A path of the command line. A link that was named is meant. A sidecar belongs to its file where both are named.
		 *
		 * @param all the named paths by their absolute ones
		 */
		async named(path: string, all: ReadonlyMap<string, string>): Promise<void> {
			const absolute = resolve(path);
			if (suffix !== undefined && path.endsWith(suffix)) {
				const file = absolute.slice(0, -suffix.length);
				if (all.has(file) && (await isFile(file))) return;
			}
			const status = await ask<Stats>(path, stat);
			if (status === undefined) return;
			if (status.isDirectory()) {
				const real = await ask<string>(path, realpath);
				if (real !== undefined) await readSource(() => readFolder({ path, relative: "", real }));
			} else if (status.isFile()) {
				const place = { path, relative: basename(absolute), real: absolute };
				takeFile(place, status, suffix === undefined ? undefined : all.get(absolute + suffix));
			} else problem(path, "is not a regular file");
		},
		/** A path of a list. */
		async listed(
			{ folder, real: top }: { readonly folder: string; readonly real: string },
			path: string,
		): Promise<void> {
			const relative = pathBetween(resolve(folder), resolve(folder, path)).split(sep).join("/");
			const shown = isAbsolute(path) ? path : join(folder, path);
			const outside = `lies outside ${folder === "." ? "this folder" : folder}`;
			if (isAbove(relative)) return problem(shown, outside);
			const status = await ask<Stats>(shown, lstat);
			// The folder of a link, because a link itself is left out or followed.
			const parent = status && (await ask<string>(dirname(shown), realpath));
			if (status === undefined || parent === undefined) return;
			const real = relative === "" ? top : join(parent, basename(shown));
			if (!follow && isAbove(pathBetween(top, real))) return problem(shown, `${outside}, by a link`);
			const place = { path: shown, relative, real };
			await readSource(async () => {
				if (status.isSymbolicLink()) links.push(place);
				else if (status.isDirectory()) await readFolder(place);
				else await takeFound(place, status);
			});
		},
		end: (): Tree => ({ files, problems, links: leftLinks, others }),
	};
}

/** It may hold the metadata of a file that was moved, which would be lost silently. */
const NO_FILE = "is a sidecar whose file is not there";

function isFile(path: string): Promise<boolean> {
	return stat(path).then(
		(found) => found.isFile(),
		() => false,
	);
}
