import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { isExecutable, PROGRAM } from "../support/program.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

type Package = {
	readonly engines: { readonly node: string };
	readonly dependencies?: Record<string, string>;
	readonly optionalDependencies?: Record<string, string>;
	readonly devDependencies: Record<string, string>;
};

const manifest = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as Package;

/** The names of the packages that the source files import. */
async function imported(): Promise<readonly string[]> {
	const names = new Set<string>();
	for (const folder of ["src", "bin"]) {
		for (const entry of await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
			if (!entry.isFile()) continue;
			const text = await readFile(join(entry.parentPath, entry.name), "utf8");
			// An import of types alone is gone from the program. "asset:" is a file of the checkout.
			for (const [, name] of text.matchAll(/^(?:import|export)(?! type)[^;]*? from "((?:@[^/"]+\/)?[^/"]+)/gm)) {
				if (name !== undefined && !/^(?:\.|node:|asset:)/.test(name)) names.add(name);
			}
		}
	}
	return [...names];
}

describe("the published package", () => {
	it("contains the program, its help and its documents in at most 6 MB, or installed commands would fail", async () => {
		const { stdout } = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: ROOT });
		const [{ files, unpackedSize }] = JSON.parse(stdout) as [
			{ files: readonly { path: string }[]; unpackedSize: number },
		];
		const paths = files.map(({ path }) => path);

		for (const path of [
			"dist/bin/ragtag.js",
			"dist/parts/program.js",
			"dist/parts/undici.js",
			"dist/parts/ioredis.js",
			"dist/parts/ajv.js",
			"dist/parts/busboy.js",
			// Without it Node would take these for modules.
			"dist/package.json",
			"dist/THIRD-PARTY.txt",
			"README.md",
			"LICENSE",
			"docs/reliability.md",
			"docs/runs.md",
		]) {
			expect(paths).toContain(path);
		}
		expect(unpackedSize).toBeLessThan(6_000_000);
		expect(paths.filter((path) => /^(src|test|scripts|fixtures|\.ci)\//.test(path))).toEqual([]);
	});

	it("installs no other package, or a sandbox would bring four times the size of the program", async () => {
		const bundled = await imported();

		expect(bundled).toContain("undici");
		expect(bundled).toContain("@fastify/busboy");
		expect({ ...manifest.dependencies, ...manifest.optionalDependencies }).toEqual({});
		for (const name of bundled) expect(manifest.devDependencies).toHaveProperty([name]);
	});

	it("contains the licence text of each bundled library, as the licences require", async () => {
		// Beside the executable, and one folder above the program of the package.
		const folder = isExecutable ? dirname(PROGRAM) : dirname(dirname(PROGRAM));
		const text = await readFile(join(folder, "THIRD-PARTY.txt"), "utf8");

		for (const name of await imported()) {
			expect(text).toMatch(new RegExp(`^${name} ${manifest.devDependencies[name]?.replaceAll(".", "\\.")} \\(`, "m"));
		}
		expect(text).toContain("BSD-3-Clause");
	});

	it("requires the same Node version in package.json and in the program", async () => {
		const entry = await readFile(join(ROOT, "bin/ragtag.ts"), "utf8");
		const [, major, minor] = /major: (\d+), minor: (\d+)/.exec(entry) ?? [];

		expect(manifest.engines.node).toBe(`>=${major}.${minor}`);
	});
});
