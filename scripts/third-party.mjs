// The licence texts of the libraries that a build puts into its files: their licences ask that the text goes with the code.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;
// By code units, so that a build on any machine writes the same file.
const inOrder = (a, b) => (a < b ? -1 : 1);
const RULE = "-".repeat(80);

/**
 * @param root folder of the checkout, with a slash at its end
 * @param inputs paths below `root` of all files that went into the build, as esbuild's metafile has them
 * @returns one section a package, in the order of their names
 * @throws where a package names no licence, or brings no text of it: its code must not be published then
 */
export async function thirdPartyText(root, inputs) {
	const sections = await Promise.all(packageFolders(inputs).map((folder) => section(join(root, folder))));
	const head = "ragtag contains code of the packages below, each under its own licence.\n";
	return joined([head, ...sections]);
}

/** Sections of a file of licence texts. */
export const joined = (sections) => sections.join(`\n${RULE}\n\n`);

/** The folders of the packages that went into a build, below the checkout, in order. */
export function packageFolders(inputs) {
	const folders = inputs.map((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/)?.[0]);
	return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted(inOrder);
}

async function section(folder) {
	const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
	const files = (await readdir(folder)).filter((file) => LICENCE_FILE.test(file)).toSorted(inOrder);
	if (typeof license !== "string" || files.length === 0) throw new Error(`${name} has no licence text to publish`);
	const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
	return `${name} ${version} (${license})\n\n${texts.map((text) => text.trim()).join("\n\n")}\n`;
}
