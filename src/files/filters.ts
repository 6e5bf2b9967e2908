import { usageError } from "../errors.ts";
import { excerpt } from "../text/show.ts";

/** The globs of `--include` and `--exclude`. */
type FilterGlobs = {
	readonly include?: readonly string[] | undefined;
	readonly exclude?: readonly string[] | undefined;
};

/** Says by paths alone which files of a folder are taken. Paths are relative to that folder. */
export type Filters = {
	/** whether the file of this path is taken; also for a path that is no longer there */
	takes(relative: string): boolean;
	/** whether a folder is read. A folder that an exclusion names is not */
	enters(relative: string): boolean;
};

type Matcher = (path: string) => boolean;

/** Takes everything. */
const ALL_FILES: Filters = { takes: () => true, enters: () => true };

/**
 * The filters of some globs: `*`, `**`, `?`, `[...]` and `{a,b}`. A glob without a slash is compared with the base name, in
 * whatever folder; one with a slash with the whole path. A glob that matches a folder stands for all that is in it.
 *
 * @throws CliError exit 2 for a glob that can match nothing
 */
export async function createFilters({ include = [], exclude = [] }: FilterGlobs): Promise<Filters> {
	if (include.length === 0 && exclude.length === 0) return ALL_FILES;
	const included = await matcherOf("--include", include);
	const excluded = await matcherOf("--exclude", exclude);
	const isExcluded = (relative: string): boolean => withFolders(relative).some(excluded);
	return {
		takes: (relative) => !isExcluded(relative) && (include.length === 0 || withFolders(relative).some(included)),
		enters: (relative) => !isExcluded(relative),
	};
}

async function matcherOf(flag: string, globs: readonly string[]): Promise<Matcher> {
	if (globs.length === 0) return () => false;
	const { default: picomatch } = await import("picomatch");
	const options = { dot: true, nonegate: true, noextglob: true, windows: false };
	const matchers = globs.map((glob): Matcher => {
		const plain = checked(flag, glob);
		const matches = picomatch(plain, options);
		return plain.includes("/") ? matches : (path) => matches(path.slice(path.lastIndexOf("/") + 1));
	});
	return (path) => matchers.some((matches) => matches(path));
}

/** The glob without a beginning `./` and a final slash. */
function checked(flag: string, glob: string): string {
	const plain = glob.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
	const shown = `${flag} "${excerpt(glob)}"`;
	if (plain === "" || plain === ".") {
		throw usageError(`${shown} names no file; nothing was sent`, "Write a glob: '*.pdf'.");
	}
	if (plain.startsWith("/") || plain.split("/").includes("..")) {
		throw usageError(
			`${shown} matches nothing: it is compared with paths from the folder; nothing was sent`,
			"Write a path from the folder that is uploaded: 'hr/**', or a name for all folders: '*.pdf'.",
		);
	}
	return plain;
}

/** A path and the folders that it is in: `hr/a.pdf` and `hr`. */
function withFolders(relative: string): string[] {
	const paths = [relative];
	for (let slash = relative.lastIndexOf("/"); slash > 0; slash = relative.lastIndexOf("/", slash - 1)) {
		paths.push(relative.slice(0, slash));
	}
	return paths;
}
