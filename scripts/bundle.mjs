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

/**
 * Options for one file of CommonJS: Node 20 loads it faster than a module, and keeps compiled code of nothing else.
 *
 * @param define further constants, by name, as values of JSON
 */
export function commonJsOptions(root, version, define = {}) {
	const options = bundleOptions(root, version);
	const constants = Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)]);
	return {
		...options,
		format: "cjs",
		banner: { js: '"use strict"; const ragtagFile = require("node:url").pathToFileURL(__filename).href;' },
		define: { ...options.define, ...Object.fromEntries(constants), "import.meta.url": "ragtagFile" },
		// Node's loader of modules takes 7 ms to begin.
		supported: { "dynamic-import": false },
		// Names stay whole: they stand in the reports of faults.
		minifySyntax: true,
		minifyWhitespace: true,
	};
}

/**
 * The same program in ASCII. esbuild escapes letters in texts and leaves them in regular expressions. There an escape of each
 * UTF-16 unit means the same, with and without the flag `u`.
 */
export function asAscii(text) {
	return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
