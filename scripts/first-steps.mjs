// The first steps of a user with the installed package: a sandbox, a tag and its undo, and on an old Node the line that
// installs libsql. For scripts/test-nodes.mjs.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";

/** As the documentation promises: what npm puts on the disk. */
const MOST_BYTES = 6_000_000;

const DOCUMENT = `${"0".repeat(31)}1`;

/** What the sandbox may print beside its answers: requests, as `PUT /api/v1/… 200`. */
const REQUEST = /^(?:GET|PUT|PATCH|POST|DELETE) \/|^$/;

/**
 * An archive of npm, installed for one user.
 *
 * @param folder an empty one: his home, and the prefix of his global packages
 * @param node the executable of his Node
 */
export function installed(folder, archive, node) {
	// Nothing of a project that this script runs in; but the tester's registry and certificates.
	const own = Object.entries(process.env).filter(([name]) => !/^(?:RAGTAG|npm)_/i.test(name));
	const env = {
		...Object.fromEntries(own),
		npm_config_userconfig: join(homedir(), ".npmrc"),
		PATH: [join(folder, "bin"), dirname(node), process.env.PATH].join(delimiter),
		HOME: folder,
		npm_config_prefix: folder,
		npm_config_cache: join(folder, "cache"),
		npm_config_update_notifier: "false",
	};
	const npm = (...words) => execFileSync("npm", words, { cwd: folder, env, encoding: "utf8" });
	npm("install", "--global", "--no-audit", "--no-fund", archive);
	return { folder, archive, env, npm, packages: join(folder, "lib", "node_modules") };
}

/** Throws where the package brings others with it, or is larger than promised. @returns its bytes */
export function checkSize({ packages }) {
	const names = readdirSync(packages).filter((name) => !name.startsWith("."));
	if (names.join() !== "ragtag-cli") throw new Error(`installed: ${names.join(", ")}`);
	const paths = readdirSync(packages, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
	if (paths.some(({ parentPath }) => parentPath.slice(packages.length).includes("node_modules")))
		throw new Error("the package brings others with it");
	const bytes = paths.reduce((sum, { parentPath, name }) => sum + readFileSync(join(parentPath, name)).length, 0);
	if (bytes > MOST_BYTES) throw new Error(`${bytes} bytes are installed, and at most ${MOST_BYTES} are promised`);
	return bytes;
}

/** The command of an installation, and the same package as npx calls it, which keeps it in a folder of its own. */
export const INSTALLED = () => ["ragtag"];
export const BY_NPX = ({ archive }) => ["npx", "--yes", "--package", archive, "ragtag"];

/** A Node without SQLite: exit code 2 with a line, and what that line installs is found. Called before `firstSteps`. */
export function installSqlite(user, words) {
	const [command, ...args] = words(user);
	const { status, stderr } = spawnSync(command, [...args, "sandbox", "--port", "0"], { ...user, encoding: "utf8" });
	const line = /npm (install --global libsql@\S+)$/m.exec(stderr)?.[1];
	if (status !== 2 || line === undefined) throw new Error(`exit ${status} without a line to type: ${stderr}`);
	user.npm(...line.split(" "));
}

/** Throws where a step fails, or prints what it should not. */
export async function firstSteps(user, words) {
	const folder = join(user.folder, "work");
	mkdirSync(folder, { recursive: true });
	const [command, ...args] = words(user);
	const sandbox = spawn(command, [...args, "sandbox", "--port", "0", "--documents", "3"], {
		cwd: folder,
		env: user.env,
		detached: true,
	});
	try {
		const [url, key, dataset] = await firstLines(sandbox, 3);
		const service = { RAGTAG_BASE_URL: url, RAGTAG_API_KEY: key.split("=")[1] };
		const ragtag = (...more) =>
			execFileSync(command, [...args, ...more], {
				cwd: folder,
				env: { ...user.env, ...service },
				encoding: "utf8",
				stdio: ["ignore", "pipe", "pipe"],
			});
		const team = () => {
			const lines = ragtag("docs", "list", "-d", dataset, "--format", "jsonl").trim().split("\n");
			return lines.map((line) => JSON.parse(line)).find((one) => one.document_id === DOCUMENT)?.meta_fields?.team;
		};
		writeFileSync(join(folder, "tags.csv"), `document_id,team\n${DOCUMENT},legal\n`);
		ragtag("docs", "tag", "tags.csv", "-d", dataset);
		const tagged = team();
		ragtag("runs", "undo", "--yes");
		if (tagged !== "legal" || team() !== undefined) throw new Error(`tagged: ${tagged}, undone: ${team()}`);
	} finally {
		// With its group: npx alone would end, and leave the sandbox.
		if (sandbox.exitCode === null) process.kill(-Number(sandbox.pid));
	}
}

/** The first lines that a child prints; it fails with what is on standard error, where only requests may be. */
function firstLines(child, count) {
	const text = { out: "", err: "" };
	return new Promise((resolve, reject) => {
		child.stderr.setEncoding("utf8").on("data", (chunk) => {
			text.err += chunk;
			if (text.err.split("\n").some((line) => !REQUEST.test(line))) reject(new Error(text.err));
		});
		child.stdout.setEncoding("utf8").on("data", (chunk) => {
			text.out += chunk;
			const lines = text.out.split("\n");
			if (lines.length > count) resolve(lines);
		});
		child.once("exit", (code) => reject(new Error(`exit ${code}: ${text.err}`)));
	});
}
