import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { environment, isExecutable, program, PROGRAM } from "../support/program.ts";
import { folder } from "../support/service.ts";
import { at, items, parse } from "../support/values.ts";

const FOLDER = dirname(PROGRAM);
const textOf = (name: string): Promise<string> => readFile(join(FOLDER, name), "utf8");

describe.skipIf(!isExecutable)("the executable (npm run test:binary runs these)", () => {
	it("runs where there is no Node: these tests would not show it otherwise", async () => {
		const { status } = spawnSync("sh", ["-c", "command -v node npm"], { env: environment({}) });
		expect(status).not.toBe(0);
		expect((await program(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
	});

	it("does not read its parts from the folder that it lies in, nor from the folder that it is started in", async () => {
		const [elsewhere, inner] = [await folder(), join(await folder(), "bin")];
		await mkdir(inner);
		const copy = join(inner, "ragtag");
		execFileSync("cp", [PROGRAM, copy]);
		const printed = execFileSync(copy, ["help", "limits"], { cwd: elsewhere, env: environment({}), encoding: "utf8" });
		expect(printed).toMatch(/^# Limits\n/);
	});

	it("has checksums that sha256sum accepts, and one for each file", async () => {
		const checked = execFileSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: FOLDER, encoding: "utf8" });
		expect(checked.trimEnd().split("\n")).toEqual([
			"THIRD-PARTY.txt: OK",
			expect.stringMatching(/^ragtag-\d+\.\d+\.\d+-linux-\w+: OK$/),
			"sbom.cdx.json: OK",
		]);
	});

	it("has a Homebrew formula with the address and the checksum of the file", async () => {
		const [, sum, file] = /^(\w{64}) {2}(ragtag-.*)$/m.exec(await textOf("SHA256SUMS")) ?? [];
		const formula = await textOf("ragtag.rb");
		expect(formula).toContain(`\n  url "https://downloads.example.com/ragtag/${file}"\n`);
		expect(formula).toContain(`\n  sha256 "${sum}"\n`);
		expect(formula).not.toMatch(/@[A-Z0-9]+@|undefined/);
	});

	it("brings the licence of Node, which it contains", async () => {
		expect(await textOf("THIRD-PARTY.txt")).toMatch(
			/^Node\.js \d+\.\d+\.\d+\n\nNode\.js is licensed for use as follows:/m,
		);
	});

	it("lists its parts as CycloneDX has them: a scanner that can't read the list finds no known fault", async () => {
		const list = parse(await textOf("sbom.cdx.json"));
		expect(list).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 });
		const components = items(at(list, "components"));
		for (const component of components) {
			expect(component).toMatchObject({
				type: expect.stringMatching(/^(library|platform)$/),
				name: expect.any(String),
			});
		}
		const purls = components.map((component) => at(component, "purl"));
		expect(purls).toContainEqual(expect.stringMatching(/^pkg:npm\/undici@\d/));
		expect(purls).toContainEqual(expect.stringMatching(/^pkg:npm\/%40fastify\/busboy@\d/));
		expect(purls).toContainEqual(expect.stringMatching(/^pkg:generic\/node@\d/));
		// A hash is of the package that was installed.
		const undici = components.find((component) => at(component, "name") === "undici");
		expect(undici).toMatchObject({ hashes: [{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }] });
	});
});
