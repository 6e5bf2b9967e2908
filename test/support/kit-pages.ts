import { readFile } from "node:fs/promises";
import { blocksOf } from "../docs/page.ts";

/** The blocks of a page of `docs/` after this word, in order. */
export async function blocks(page: string, fence: string): Promise<readonly string[]> {
	const text = await readFile(new URL(`../../docs/${page}`, import.meta.url), "utf8");
	const found = blocksOf(text).filter((block) => block.fence === fence);
	if (found.length === 0) throw new Error(`${page} has no block ${fence}`);
	return found.map((block) => block.text);
}

/** The block of a page that begins with this line: the path of the file that it shows. */
export async function fileOf(page: string, fence: string, path: string): Promise<string> {
	const found = (await blocks(page, fence)).find((text) => text.startsWith(`# ${path}\n`));
	if (found === undefined) throw new Error(`${page} has no file ${path}`);
	return found;
}
