// Real documents with real metadata: the documentation of the packages that this project is built with.
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join, relative } from "node:path";

const DOCUMENT = /^(README|CHANGELOG|LICENSE)/i;

/**
 * Every README, CHANGELOG and LICENSE at the top of an installed package, and the metadata that its package gives.
 * A package that is installed twice in the same version is taken once.
 */
export async function packageDocuments(modules) {
	const seen = new Set();
	const documents = [];
	for await (const folder of packages(modules)) {
		const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
		if (typeof manifest.name !== "string" || typeof manifest.version !== "string") continue;
		const id = `${manifest.name}@${manifest.version}`;
		if (seen.has(id)) continue;
		seen.add(id);
		for (const entry of await readdir(folder, { withFileTypes: true })) {
			if (!entry.isFile() || !DOCUMENT.test(entry.name)) continue;
			const path = join(folder, entry.name);
			const { mtime, size } = await stat(path);
			if (size === 0) continue;
			documents.push({
				file: relative(modules, path),
				// A name is no path, and the service tells types by the ending.
				name: `${id.replaceAll("/", "__")}-${entry.name}${extname(entry.name) === "" ? ".txt" : ""}`,
				metadata: { ...metadataOf(manifest), publish_date: mtime.toISOString().slice(0, 10) },
			});
		}
	}
	return documents;
}

/** The folders of all packages: scoped ones and those inside others, too. */
async function* packages(modules) {
	for (const entry of await readdir(modules, { withFileTypes: true }).catch(() => [])) {
		if (!entry.isDirectory() || entry.name.startsWith(".")) continue;
		const folder = join(modules, entry.name);
		if (entry.name.startsWith("@")) {
			yield* packages(folder);
			continue;
		}
		if (await stat(join(folder, "package.json")).catch(() => undefined)) yield folder;
		yield* packages(join(folder, "node_modules"));
	}
}

/** What is not given stays empty: an empty cell sends no key. */
function metadataOf({ author, keywords, homepage }) {
	const name = typeof author === "string" ? author : author?.name;
	const [category] = Array.isArray(keywords) ? keywords : [];
	return {
		author: typeof name === "string" ? name.replace(/\s*[<(].*$/s, "") : "",
		category: typeof category === "string" && category !== "" ? category : "uncategorised",
		url: typeof homepage === "string" && /^https?:\/\/\S+$/.test(homepage) ? homepage : "",
	};
}
