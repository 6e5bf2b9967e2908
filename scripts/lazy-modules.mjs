// Keeps parts of libraries from being loaded that no command of ours calls: each takes a millisecond or two of a start.

const LATE = "late";

/** HTTP/2 is never offered, so its client is loaded by the first connection that takes it: none. */
const http2Client = `
	let real;
	module.exports = (...args) => (real ??= require("./client-h2.js"))(...args);`;

/** A check that holds costs nothing. One that fails is made again by Node's own module, which words the error. */
const assert = `
	let real;
	const load = () => (real ??= require("node:assert"));
	module.exports = (value, message) => { if (!value) load()(value, message); };
	for (const name of ["deepStrictEqual", "equal", "fail", "ifError", "notEqual", "notStrictEqual", "ok", "strictEqual"]) {
		module.exports[name] = (...args) => load()[name](...args);
	}`;

/**
 * undici needs two things of it: the size that headers may have, 16 KiB unless an option of Node says otherwise, and a class
 * of messages, of which this program sends none.
 */
const http = `
	const isDefault = !/max-http-header-size/.test([...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" "));
	const own = { IncomingMessage: class {}, ...(isDefault ? { maxHeaderSize: 16384 } : {}) };
	module.exports = new Proxy(own, { get: (known, name) => (name in known ? known[name] : require("node:http")[name]) });`;

/** Only a program whose commands are programs of their own starts any. */
const childProcess = `exports.spawn = (...args) => require("node:child_process").spawn(...args);`;

/** Library, the path that it requires, and what it gets. */
const STANDINS = [
	["undici", "./client-h2.js", http2Client],
	["undici", "node:assert", assert],
	["undici", "node:http", http],
	["commander", "node:child_process", childProcess],
];

/** A plugin of esbuild. What a stand-in requires itself is the real module. */
export function lazyModules() {
	return {
		name: "lazy-modules",
		setup({ onResolve, onLoad }) {
			onResolve({ filter: /^(?:\.\/client-h2\.js|node:assert|node:http|node:child_process)$/ }, (asked) => {
				const { path, importer, namespace, resolveDir } = asked;
				const [, library] = /node_modules[\\/]([^\\/]+)[\\/]/.exec(importer) ?? [];
				const contents = STANDINS.find(([of, required]) => of === library && required === path)?.[2];
				if (namespace === LATE || contents === undefined) return undefined;
				return { path: `${library} ${path}`, namespace: LATE, pluginData: { contents, resolveDir } };
			});
			onLoad({ filter: /./, namespace: LATE }, ({ pluginData }) => ({ ...pluginData, loader: "js" }));
		},
	};
}
