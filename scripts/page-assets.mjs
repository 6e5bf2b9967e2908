// Puts the style of report pages into the program as a text: `import style from "asset:./page.css"`.
// One plugin for esbuild, and one for vitest, so that tests see the same text.
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { transform } from "esbuild";

const ASSET = "asset:";
const END = ".text";

async function textOf(path) {
	const options = { loader: "css", minify: true, target: ["chrome109", "firefox115", "safari16"] };
	return (await transform(await readFile(path, "utf8"), options)).code.trim();
}

export function esbuildAssets() {
	return {
		name: "page-assets",
		setup({ initialOptions: { absWorkingDir: root }, onResolve, onLoad }) {
			// Below the checkout, because esbuild writes this path into the program: any folder must build the same bytes.
			onResolve({ filter: /^asset:/ }, ({ path, resolveDir }) => ({
				path: relative(root, resolve(resolveDir, path.slice(ASSET.length))),
				namespace: "asset",
			}));
			onLoad({ filter: /./, namespace: "asset" }, async ({ path }) => ({
				contents: await textOf(join(root, path)),
				loader: "text",
			}));
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
			return `export default ${JSON.stringify(await textOf(id.slice(1 + ASSET.length, -END.length)))};`;
		},
	};
}
