// Runs a two-row `docs tag` of the sources, file by file, and counts what of them ran.
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Of the sandbox that the script starts. */
const KEY = "house-key-0123456789";
const PRELOAD = new URL("way.mjs", import.meta.url).href;

/** What has no source of ours to be counted. */
const ASSET = /^(import \w+ from )"asset:[^"]*";$/gm;

/**
 * Gives the functions and files of ours that a two-row tag runs, and its way from the command to the dispatch of undici.
 *
 * @param files paths of all sources, from the root
 */
export async function runOfTag(files) {
	const folder = await mkdtemp(join(tmpdir(), "ragtag-house-"));
	const children = [];
	try {
		await transform(files, folder);
		const { env, dataset } = await startSandbox(folder, children);
		await writeFile(join(folder, "rows.csv"), await rowsFor(env, dataset));
		const args = ["docs", "tag", "rows.csv", "-d", dataset];
		const coverage = join(folder, "coverage");
		const way = join(folder, "way.json");
		const child = spawn(process.execPath, ["--import", PRELOAD, join(folder, "bin/ragtag.js"), ...args], {
			cwd: folder,
			env: { ...env, NODE_V8_COVERAGE: coverage, RAGTAG_STATE_DIR: join(folder, "state"), HOUSE_WAY: way },
			stdio: ["ignore", "pipe", "pipe"],
		});
		const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
		if (code !== 0) throw new Error(`the two-row tag ended with ${code}: ${said}`);
		return { ...(await covered(coverage, folder)), way: wayOf(JSON.parse(await readFile(way, "utf8")), folder) };
	} finally {
		for (const child of children) child.kill();
		await rm(folder, { recursive: true, force: true });
	}
}

/** Each file by itself, so that the coverage of V8 names it. */
async function transform(files, folder) {
	await build({
		absWorkingDir: ROOT,
		entryPoints: files,
		outdir: folder,
		outbase: ROOT,
		bundle: false,
		format: "esm",
		platform: "node",
		target: "node20",
		define: { __RAGTAG_VERSION__: '"0.0.0"', __RAGTAG_PROGRAM__: "undefined", __RAGTAG_COMMANDS__: "[]" },
		logLevel: "warning",
	});
	for (const path of files) {
		const out = join(folder, path.replace(/\.ts$/, ".js"));
		const code = (await readFile(out, "utf8"))
			.replace(ASSET, (_, start) => `${start.replace(/import (\w+) from /, "const $1 = ")}"";`)
			.replaceAll(/(from |import\(|import )"(\.[^"]*)\.ts"/g, '$1"$2.js"');
		await writeFile(out, code);
	}
	await writeFile(join(folder, "package.json"), '{ "type": "module" }');
	await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
}

/** A dataset of two documents, as the sandbox fills it. */
async function startSandbox(folder, children) {
	const own = Object.fromEntries(
		Object.entries(process.env).filter(([name]) => !/^(?:RAGTAG_|CI$|GITHUB_)/.test(name)),
	);
	const args = [join(folder, "bin/ragtag.js"), "sandbox", "--port", "0", "--key", KEY, "--documents", "2", "--quiet"];
	const child = spawn(process.execPath, args, { cwd: folder, env: own, stdio: ["ignore", "pipe", "inherit"] });
	children.push(child);
	const lines = [];
	for await (const line of createInterface({ input: child.stdout })) if (lines.push(line) === 3) break;
	const [url, , dataset] = lines;
	return { env: { ...own, RAGTAG_BASE_URL: url, RAGTAG_API_KEY: KEY }, dataset };
}

async function rowsFor({ RAGTAG_BASE_URL: url }, dataset) {
	const answer = await fetch(`${url}/api/v1/datasets/${dataset}/documents`, {
		headers: { authorization: `Bearer ${KEY}` },
	});
	const { data } = await answer.json();
	return `document_id,author\n${data.docs.map(({ id }, index) => `${id},author ${index}\n`).join("")}`;
}

/** Functions with a count above 0, without the body of each module; files of which any function, or the module, ran. */
async function covered(coverage, folder) {
	const ran = new Map();
	for (const name of await readdir(coverage)) {
		const { result } = JSON.parse(await readFile(join(coverage, name), "utf8"));
		for (const { url, functions } of result) {
			const path = ownPath(url, folder);
			if (path === undefined) continue;
			const [, ...inner] = functions;
			const count = inner.filter(({ ranges: [range] }) => range.count > 0).length;
			ran.set(path, (ran.get(path) ?? 0) + count);
		}
	}
	const files = [...ran].filter(([, count]) => count > 0);
	return {
		functions: files.reduce((sum, [, count]) => sum + count, 0),
		files: files.length,
		loaded: ran.size,
		most: files.toSorted(([, a], [, b]) => b - a).map(([path, count]) => `${path} ${count}`),
	};
}

/** The functions from `tag` to undici, each once: a loop or a queue calls some again for the next row. */
function wayOf(stack, folder) {
	const frames = stack.map(({ url, name }) => ({ name, path: ownPath(url, folder) }));
	const start = frames.findIndex(({ path }) => path === "src/commands/docs/tag.js");
	if (start < 0) throw new Error("no update came from src/commands/docs/tag.ts");
	const own = frames.slice(0, start + 1).filter(({ path }) => path !== undefined);
	const links = [...new Set(own.map(({ name, path }) => `${path.replace(/\.js$/, ".ts")} ${name}`))].toReversed();
	return { calls: links.length, files: new Set(own.map(({ path }) => path)).size, links };
}

function ownPath(url, folder) {
	if (!url.startsWith("file://")) return undefined;
	const path = relative(folder, fileURLToPath(url));
	return /^(?:src|bin)\//.test(path) ? path : undefined;
}
