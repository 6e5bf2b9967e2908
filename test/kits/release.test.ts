import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { file } from "../support/service.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (name: string): Promise<string> => readFile(new URL(`../../${name}`, import.meta.url), "utf8");

const manifest = JSON.parse(await read("package.json")) as { readonly version: string };
const publisher = JSON.parse(await read("scripts/publisher.json")) as Readonly<Record<string, string>>;

/** Runs the check of a release as its workflow does. */
function release(...words: string[]): Promise<{ exit: number; stdout: string; stderr: string }> {
	return promisify(execFile)(process.execPath, ["scripts/release.mjs", ...words], { cwd: ROOT }).then(
		(ended) => ({ exit: 0, ...ended }),
		(error: { code: number; stdout: string; stderr: string }) => ({ ...error, exit: error.code }),
	);
}

it("a release without a publisher fails, or users would have no address for a hole or a fault", async () => {
	const empty = await file("empty.json", '{"repository":"","homepage":"","bugs":"","security":""}');
	const { exit, stdout, stderr } = await release(`v${manifest.version}`, "--publisher", empty);
	expect([exit, stdout]).toEqual([1, ""]);
	for (const name of ["repository", "homepage", "bugs", "security"])
		expect(stderr).toContain(`release: scripts/publisher.json: "${name}" must be `);
});

it("a tag that is not the version of the package fails, or npm would get another version than the tag names", async () => {
	const { exit, stderr } = await release("v99.0.0");
	expect(exit).toBe(1);
	expect(stderr).toContain(`release: the tag is v99.0.0, and package.json has version ${manifest.version}`);
	expect(stderr).not.toContain("CHANGELOG.md has no section");
});

it("addresses that are filled in, and not yet in package.json and SECURITY.md, fail with the command that puts them there", async () => {
	const there = "https://git.example.com/ragtag";
	const values = { repository: there, homepage: there, bugs: `${there}/issues`, security: "security@example.com" };
	const filled = await file("filled.json", JSON.stringify(values));
	const { exit, stderr } = await release(`v${manifest.version}`, "--publisher", filled);
	expect(exit).toBe(1);
	expect(stderr).toContain("run node scripts/release.mjs --write");
});

it("package.json and SECURITY.md have the addresses of the one file, and say so while it is empty", async () => {
	const page = await read("SECURITY.md");
	expect(page).toContain(publisher["security"] === "" ? "There is no address yet" : publisher["security"]);
	const {
		repository = {},
		homepage = "",
		bugs = {},
	} = manifest as { repository?: object; homepage?: string; bugs?: object };
	expect(homepage).toBe(publisher["homepage"]);
	expect(JSON.stringify(repository)).toContain(publisher["repository"]);
	expect(JSON.stringify(bugs)).toContain(publisher["bugs"]);
	expect(publisher["repository"] === "" ? [repository, bugs] : []).toEqual(
		publisher["repository"] === "" ? [{}, {}] : [],
	);
});

it("the page of stability names each Node that is run, and no other", async () => {
	const [page, script] = await Promise.all([read("docs/stability.md"), read("scripts/test-nodes.mjs")]);
	const versions = [...script.matchAll(/"(\d+\.\d+\.\d+)"/g)].map(([, version = ""]) => version);
	const [tooOld] = /(?<=TOO_OLD = ")[\d.]+/.exec(script) ?? [];
	expect(versions.length).toBeGreaterThan(4);
	for (const version of versions) expect([version, page.includes(version)]).toEqual([version, version !== tooOld]);
});
