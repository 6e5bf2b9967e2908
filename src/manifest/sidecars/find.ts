import { readdir, stat } from "node:fs/promises";
import { basename, join, normalize } from "node:path";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import { excerpt } from "../../text/show.ts";

/** The ending of a sidecar's name, after the whole name of its file. */
export const SIDECAR_SUFFIX = ".meta.json";

/** A file as the document of its name, with the path of its sidecar. */
export type LocalFile = { readonly path: string; readonly name: string; readonly sidecar: string };

export type FoundFiles = {
	readonly files: readonly LocalFile[];
	/** sidecars whose file is not there */
	readonly orphans: readonly string[];
	/** folders inside those that were named; they are not read */
	readonly folders: number;
};

/**
 * The files that the arguments name: files themselves, and those directly in a folder.
 *
 * A sidecar names its file, so that `docs/*` may name both. Hidden files of a folder are left out, as `*` leaves them
 * out.
 *
 * @throws CliError exit 2 where an argument is not there
 */
export async function findLocalFiles(paths: readonly string[]): Promise<FoundFiles> {
	const files = new Map<string, LocalFile>();
	const orphans = new Set<string>();
	let folders = 0;
	const add = async (path: string): Promise<void> => {
		const isSidecar = path.endsWith(SIDECAR_SUFFIX);
		const file = isSidecar ? path.slice(0, -SIDECAR_SUFFIX.length) : path;
		if (isSidecar && !(await isFile(file))) orphans.add(path);
		else files.set(normalize(file), { path: file, name: basename(file), sidecar: `${file}${SIDECAR_SUFFIX}` });
	};
	for (const path of paths) {
		if (!(await kindOf(path)).isDirectory()) {
			await add(path);
			continue;
		}
		const entries = await readdir(path, { withFileTypes: true });
		for (const { name } of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
			if (name.startsWith(".")) continue;
			const inside = join(path, name);
			if ((await kindOf(inside)).isDirectory()) folders += 1;
			else await add(inside);
		}
	}
	return { files: Array.from(files.values()), orphans: Array.from(orphans), folders };
}

async function kindOf(path: string): ReturnType<typeof stat> {
	try {
		return await stat(path);
	} catch (error) {
		const why = errorCode(error) === "ENOENT" ? "does not exist" : `cannot be read: ${reason(error)}`;
		throw new CliError(`${excerpt(path)} ${why}; nothing was sent`, {
			exit: Exit.usage,
			hint: "Check the paths of the files.",
			cause: error,
		});
	}
}

async function isFile(path: string): Promise<boolean> {
	return stat(path).then(
		(found) => found.isFile(),
		() => false,
	);
}
