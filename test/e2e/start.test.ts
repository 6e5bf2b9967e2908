import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { bundleOptions } from "../../scripts/bundle.mjs";
import { COMMAND, environment, startOnTerminal } from "../support/program.ts";
import { envOf, ragtag } from "../support/ragtag.ts";
import { serve } from "../support/service.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The files of which `docs tag` of one row loads the code. What is imported late by these is in parts of its own. */
async function loadedAtStart(entries: readonly string[]): Promise<readonly string[]> {
	const { metafile } = await build({
		...bundleOptions(ROOT, "0.0.0"),
		entryPoints: [...entries],
		outdir: join(ROOT, "dist"),
		write: false,
		splitting: true,
		external: ["libsql"],
	});
	const outputs = Object.entries(metafile.outputs);
	const waiting = outputs.filter(([, { entryPoint }]) => entries.includes(entryPoint ?? "")).map(([path]) => path);
	const loaded = new Set<string>();
	for (const path of waiting) {
		if (loaded.has(path)) continue;
		loaded.add(path);
		const imports = metafile.outputs[path]?.imports ?? [];
		waiting.push(
			...imports
				.filter(({ kind, external }) => kind === "import-statement" && external !== true)
				.map((one) => one.path),
		);
	}
	return [...loaded].flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}));
}

it("docs tag loads no library that few commands need, or a script of many calls would wait for each", async () => {
	const files = await loadedAtStart(["bin/main.ts", "src/commands/docs/tag.ts"]);
	const libraries = new Set(files.map((file) => /node_modules\/([^/]+)\//.exec(file)?.[1]));

	expect(libraries).toContain("undici");
	expect(libraries).toContain("commander");
	for (const late of ["yaml", "chalk", "ora", "ajv", "ioredis", "string-width"]) expect(libraries).not.toContain(late);
	expect(files.filter((file) => /src\/(?:sandbox|report\/page)\/|rest\/(?:trust|preflight)\.ts/.test(file))).toEqual(
		[],
	);
	expect(files.filter((file) => file.startsWith("src/commands/docs/"))).toEqual(["src/commands/docs/tag.ts"]);
});

it("the help on a terminal is as wide as the terminal", async () => {
	const { ended } = startOnTerminal("stty cols 60; $RAGTAG docs tag --help");
	const { exit, stdout } = await ended;
	const { stdout: own } = await ragtag(["docs", "tag", "--help"], { terminal: true, columns: 60 });
	expect([exit, stdout.replaceAll("\r\n", "\n")]).toEqual([0, own]);
});

// Later Node lines and the executable reserve less, so that the same limit leaves them enough.
const hasOtherLimit =
	process.platform !== "linux" ||
	!process.version.startsWith("v20.") ||
	process.env["RAGTAG_PROGRAM_PATH"] !== undefined;

it.skipIf(hasOtherLimit)(
	`too little memory for a connection is exit 7 at once, and is not taken for an outage of the service${hasOtherLimit ? " (skipped: not Node 20 on Linux)" : ""}`,
	async () => {
		const service = await serve(1);
		// As on the login nodes of a cluster. Node itself starts with it.
		const words = [...COMMAND, "docs", "list", "-d", service.dataset].map((word) => `'${word}'`).join(" ");
		const run = promisify(execFile)("sh", ["-c", `ulimit -v 2000000; exec ${words}`], {
			env: environment(envOf(service)),
		});
		await expect(run).rejects.toMatchObject({ code: 7, stderr: expect.stringContaining("too little memory") });
		expect(service.requests).toEqual([]);
	},
);
