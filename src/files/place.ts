import { isAbsolute, join, sep } from "node:path";

/** A file or folder by the path that opens it, the one from the folder that was named, and the one without links. */
export type Place = { readonly path: string; readonly relative: string; readonly real: string };

/** What a folder holds under a name. */
export function inFolder({ path, relative, real }: Place, name: string): Place {
	return {
		path: join(path, name),
		relative: relative === "" ? name : `${relative}/${name}`,
		real: join(real, name),
	};
}

/** Whether a path from a folder leads out of it. */
export function isAbove(relative: string): boolean {
	return relative === ".." || relative.startsWith(`..${sep}`) || relative.startsWith("../") || isAbsolute(relative);
}
