// What both builds have in common: the package in dist/ and the one executable in dist-binary/.
import { esbuildAssets } from "./page-assets.mjs";

/** Options of esbuild for the program. @param root folder of the checkout @param version of package.json */
export function bundleOptions(root, version) {
	return {
		absWorkingDir: root,
		entryPoints: [{ in: "bin/ragtag.ts", out: "bin/ragtag" }],
		bundle: true,
		format: "esm",
		platform: "node",
		target: "node20",
		// Some dependencies are CommonJS and call require for Node's own modules.
		banner: {
			js: 'import { createRequire as ragtagRequire } from "node:module"; const require = ragtagRequire(import.meta.url);',
		},
		define: { __RAGTAG_VERSION__: JSON.stringify(version) },
		legalComments: "none",
		plugins: [esbuildAssets()],
		metafile: true,
		logLevel: "warning",
	};
}
