import { readFile } from "node:fs/promises";
import { getAsset, isSea } from "node:sea";

/** The package's folder: as far from this file as from `dist/bin` and `dist/parts`. */
const FOLDER = new URL("../../", import.meta.url);

/**
 * The text of a file of the package. The executable holds these files as assets, under the same names.
 *
 * @param path below the package's folder, as `docs/runs.md`
 * @throws an error of the system, or of Node where the executable has no such asset
 */
export async function packageText(path: string, folder: URL = FOLDER): Promise<string> {
	return isSea() ? getAsset(path, "utf8") : await readFile(new URL(path, folder), "utf8");
}
