// What both builds have in common: the package in dist/ and the one executable in dist-binary/.
import { esbuildAssets } from "./page-assets.mjs";

/**
 * A plugin of esbuild: undici loads its client of HTTP/2, and with it Node's own, when the first connection takes that. None
 * is offered it, and to load it takes a twentieth of a run of one row.
 */
function lateHttp2() {
	return {
		name: "late-http2",
		setup({ onResolve, onLoad }) {
			onResolve({ filter: /^\.\/client-h2\.js$/ }, ({ namespace, resolveDir }) =>
				namespace === "late" ? undefined : { path: "client-h2.js", namespace: "late", pluginData: resolveDir },
			);
			onLoad({ filter: /./, namespace: "late" }, ({ pluginData: resolveDir }) => ({
				contents: `module.exports = (...connection) => require("./client-h2.js")(...connection);`,
				resolveDir,
			}));
		},
	};
}

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
		plugins: [esbuildAssets(), lateHttp2()],
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
