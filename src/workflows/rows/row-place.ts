import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import type { Row, RowPlace } from "../../manifest/types.ts";

/** How the rows of an upload name their files in a manifest at that path: relative to it where they lie below its folder. */
export async function rowPlaces(manifest: string): Promise<(row: Row) => RowPlace | undefined> {
	const typed = dirname(resolve(manifest));
	const folder = await realpath(typed).catch(() => typed);
	return ({ file, datasetId }) => {
		if (file === undefined) return undefined;
		const way = relative(folder, file.path);
		const isBelow = way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
		return { file: isBelow ? way : file.path, name: file.name, datasetId };
	};
}
