// Puts the script and the style of report pages into the program as texts: `import script from "asset:./browser/page.ts"`.
// One plugin for esbuild, and one for vitest, so that tests see the same texts.
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ASSET = "asset:";
const END = ".text";

/** Bundles a script or a style. Its `inputs` are the files that went into it. */
async function assetOf(path) {
	const { outputFiles, metafile } = await build({
		absWorkingDir: ROOT,
		entryPoints: [path],
		bundle: true,
		minify: true,
		write: false,
		format: "iife",
		target: ["es2022", "chrome109", "firefox115", "safari16"],
		legalComments: "none",
		metafile: true,
		logLevel: "warning",
	});
	const inputs = Object.keys(metafile.inputs);
	return { text: (await licences(inputs)) + outputFiles[0].text.trim(), inputs };
}

/** A page carries code of others, so it carries their licences too. */
async function licences(inputs) {
	const folders = new Set(inputs.map((path) => /^.*node_modules\/[^/]+(?=\/)/.exec(path)?.[0]));
	const texts = [...folders].flatMap((folder) => (folder === undefined ? [] : [licence(folder)]));
	return (await Promise.all(texts)).join("");
}

async function licence(folder) {
	const { name, version } = JSON.parse(await readFile(join(ROOT, folder, "package.json"), "utf8"));
	const text = (await readFile(join(ROOT, folder, "LICENSE"), "utf8")).trim();
	return `/* ${name} ${version}\n${text.replaceAll("*/", "* /")} */\n`;
}

/** The files that went into the texts are inputs of the whole build: the list of licences is made from these. */
export function esbuildAssets() {
	const all = [];
	return {
		name: "page-assets",
		setup({ onResolve, onLoad, onEnd }) {
			onResolve({ filter: /^asset:/ }, ({ path, resolveDir }) => ({
				path: resolve(resolveDir, path.slice(ASSET.length)),
				namespace: "asset",
			}));
			onLoad({ filter: /./, namespace: "asset" }, async ({ path }) => {
				const { text, inputs } = await assetOf(path);
				all.push(...inputs);
				return { contents: text, loader: "text" };
			});
			onEnd(({ metafile }) => {
				if (metafile !== undefined) for (const path of all) metafile.inputs[path] ??= { bytes: 0, imports: [] };
			});
		},
	};
}

export function vitestAssets() {
	return {
		name: "page-assets",
		enforce: "pre",
		resolveId: (source, importer) =>
			source.startsWith(ASSET) && importer !== undefined
				? // Its end keeps vitest from taking a style for one of its own, which it would empty.
					`\0${ASSET}${resolve(dirname(importer), source.slice(ASSET.length))}${END}`
				: undefined,
		async load(id) {
			if (!id.startsWith(`\0${ASSET}`)) return undefined;
			const { text } = await assetOf(id.slice(1 + ASSET.length, -END.length));
			return `export default ${JSON.stringify(text)};`;
		},
	};
}
