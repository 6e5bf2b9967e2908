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
	const walk = new Walk(options);
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
	const walk = new Walk(options);
	const top = { folder, real: await realpath(folder) };
	for (const path of listed) await walk.listed(top, path);
	return walk.end();
}

class Walk {
	readonly #options: WalkOptions;
	readonly #files: FileFacts[] = [];
	readonly #problems: FileProblem[] = [];
	/** the links of the source that is read; they come after its files */
	#links: Place[] = [];
	#leftLinks = 0;
	#others = 0;
	/** real paths of the folders and files that were taken. Not inodes: some file systems have none */
	readonly #taken = new Set<string>();

	constructor(options: WalkOptions) {
		this.#options = options;
	}

	/**
	 * A path of the command line. A link that was named is meant. A sidecar belongs to its file where both are named.
	 *
	 * @param all the named paths by their absolute ones
	 */
	async named(path: string, all: ReadonlyMap<string, string>): Promise<void> {
		const { sidecarSuffix: suffix } = this.#options;
		const absolute = resolve(path);
		if (suffix !== undefined && path.endsWith(suffix) && all.has(absolute.slice(0, -suffix.length))) return;
		const status = await this.#ask(path, statOf);
		if (status === undefined) return;
		if (status.isDirectory()) {
			const real = await this.#ask(path, realPathOf);
			if (real !== undefined) await this.#source(() => this.#folder({ path, relative: "", real }));
		} else if (status.isFile()) {
			const place = { path, relative: basename(absolute), real: absolute };
			this.#file(place, status, suffix === undefined ? undefined : all.get(absolute + suffix));
		} else this.#problem(path, "is not a regular file");
	}

	/** A path of a list. */
	async listed({ folder, real: top }: { readonly folder: string; readonly real: string }, path: string): Promise<void> {
		const relative = pathBetween(resolve(folder), resolve(folder, path)).split(sep).join("/");
		const shown = isAbsolute(path) ? path : join(folder, path);
		const outside = `lies outside ${folder === "." ? "this folder" : folder}`;
		if (isAbove(relative)) return this.#problem(shown, outside);
		const status = await this.#ask(shown, ownStatusOf);
		// The folder of a link, because a link itself is left out or followed.
		const parent = status && (await this.#ask(dirname(shown), realPathOf));
		if (status === undefined || parent === undefined) return;
		const real = relative === "" ? top : join(parent, basename(shown));
		if (!this.#options.follow && isAbove(pathBetween(top, real))) return this.#problem(shown, `${outside}, by a link`);
		const place = { path: shown, relative, real };
		await this.#source(async () => {
			if (status.isSymbolicLink()) this.#links.push(place);
			else if (status.isDirectory()) await this.#folder(place);
			else await this.#found(place, status);
		});
	}

	end(): Tree {
		return { files: this.#files, problems: this.#problems, links: this.#leftLinks, others: this.#others };
	}

	/** Reads one source: its files, then what its links lead to, because a file is taken at its own place first. */
	async #source(read: () => Promise<void>): Promise<void> {
		const first = this.#files.length;
		await read();
		const links = this.#links;
		if (!this.#options.follow) this.#leftLinks += links.length;
		// Links that are found on the way are appended.
		else for (const link of links) await this.#link(link);
		this.#links = [];
		const files = this.#files.splice(first).toSorted((one, other) => (one.relative < other.relative ? -1 : 1));
		for (const file of files) this.#files.push(file);
	}

	async #folder(place: Place): Promise<void> {
		const { filters, signal, onProgress } = this.#options;
		if (this.#taken.has(place.real)) return;
		this.#taken.add(place.real);
		signal?.throwIfAborted();
		const entries = await this.#ask(place.path, (path) => readdir(path, { withFileTypes: true }));
		const visible = (entries ?? [])
			.filter(({ name }) => !name.startsWith("."))
			.toSorted((one, other) => (one.name < other.name ? -1 : 1));
		for (let at = 0; at < visible.length; at += AT_ONCE) {
			const asked = visible.slice(at, at + AT_ONCE).map(async ({ name }) => {
				const inside = inFolder(place, name);
				const sidecar = this.#sidecarOf(inside.path);
				return { inside, status: await this.#ask(inside.path, ownStatusOf), sidecar };
			});
			for (const { inside, status, sidecar } of await Promise.all(asked)) {
				if (status === undefined) continue;
				if (status.isSymbolicLink()) this.#links.push(inside);
				else if (!status.isDirectory()) await this.#found(inside, status, sidecar);
				else if (filters.enters(inside.relative)) await this.#folder(inside);
			}
		}
		onProgress?.(this.#files.length);
	}

	/** The sidecar that lies beside a file, whether or not the filters or a list have it. */
	async #sidecarOf(path: string): Promise<string | undefined> {
		const { sidecarSuffix: suffix } = this.#options;
		return suffix !== undefined && (await isFile(path + suffix)) ? resolve(path + suffix) : undefined;
	}

	/** Follows a link. It is left out if its target was taken before, so a circle of links ends. */
	async #link(link: Place): Promise<void> {
		const status = await this.#ask(link.path, statOf);
		const real = status && (await this.#ask(link.path, realPathOf));
		if (status === undefined || real === undefined) return;
		const target = { ...link, real };
		if (this.#taken.has(real)) this.#leftLinks += 1;
		else if (!status.isDirectory()) await this.#found(target, status);
		else if (this.#options.filters.enters(link.relative)) await this.#folder(target);
	}

	/** Something in a folder or a list that is no folder. A sidecar is put down for its file. */
	async #found(place: Place, status: Stats, sidecar = this.#sidecarOf(place.path)): Promise<void> {
		const { sidecarSuffix: suffix } = this.#options;
		if (suffix !== undefined && place.path.endsWith(suffix)) {
			if (!(await isFile(place.path.slice(0, -suffix.length)))) this.#problem(place.path, NO_FILE);
		} else if (status.isFile()) this.#file(place, status, await sidecar);
		else this.#others += 1;
	}

	#file({ path, relative, real }: Place, status: Stats, sidecar?: string): void {
		if (!this.#options.filters.takes(relative) || this.#taken.has(real)) return;
		this.#taken.add(real);
		this.#files.push(factsOf({ path: resolve(path), relative, sidecar }, status));
	}

	/** What the system answers about a path; undefined where it refuses, which is a problem. */
	async #ask<Answer>(path: string, request: (path: string) => Promise<Answer>): Promise<Answer | undefined> {
		try {
			return await request(path);
		} catch (error) {
			// Node replaces bytes that are no UTF-8, and such a name opens nothing.
			const isOdd = errorCode(error) === "ENOENT" && path.includes("\ufffd");
			this.#problem(path, isOdd ? "has a name that is not UTF-8; rename it" : reason(error));
			return undefined;
		}
	}

	#problem(path: string, text: string): void {
		this.#problems.push({ path, text });
	}
}

const statOf = (path: string): Promise<Stats> => stat(path);
const ownStatusOf = (path: string): Promise<Stats> => lstat(path);
const realPathOf = (path: string): Promise<string> => realpath(path);

/** It may hold the metadata of a file that was moved, which would be lost silently. */
const NO_FILE = "is a sidecar whose file is not there";

function isFile(path: string): Promise<boolean> {
	return stat(path).then(
		(found) => found.isFile(),
		() => false,
	);
}
