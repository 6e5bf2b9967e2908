import { rmSync } from "node:fs";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { sha256Of } from "../../src/input-file.ts";
import { createFilters } from "../../src/files/filters.ts";
import { type Tree, walkListed, walkPaths } from "../../src/files/walk.ts";
import { folder } from "../support/service.ts";

type FilterGlobs = Parameters<typeof createFilters>[0];

/** A folder with these files, each of which holds its own path. */
async function tree(...paths: readonly string[]): Promise<string> {
	const root = await folder();
	for (const path of paths) {
		await mkdir(dirname(join(root, path)), { recursive: true });
		await writeFile(join(root, path), path);
	}
	return root;
}

type Options = FilterGlobs & { readonly follow?: boolean; readonly sidecars?: boolean };

async function optionsOf({ follow = false, sidecars = true, ...globs }: Options = {}) {
	return { filters: await createFilters(globs), follow, sidecarSuffix: sidecars ? ".meta.json" : undefined };
}

async function walked(root: string, options: Options = {}): Promise<Tree> {
	return walkPaths([root], await optionsOf(options));
}

const paths = ({ files }: Tree): readonly string[] => files.map(({ relative }) => relative);

it("finds every file of a folder, however deep, in the order of the paths: two runs send the same rows", async () => {
	const found = await walked(await tree("b.txt", "hr/x/deep.pdf", "hr/a.pdf", "a.txt"));
	expect(paths(found)).toEqual(["a.txt", "b.txt", "hr/a.pdf", "hr/x/deep.pdf"]);
	expect(found).toMatchObject({ problems: [], links: 0, others: 0 });
	expect(found.files[3]).toMatchObject({ folder: "hr/x", name: "deep.pdf", ext: "pdf", size: 13 });
});

it("leaves hidden files and folders out: a repository's own files are no documents", async () => {
	expect(paths(await walked(await tree(".env", ".git/config", "a.txt")))).toEqual(["a.txt"]);
});

it.each<[FilterGlobs, string[]]>([
	[{ include: ["*.pdf"] }, ["a.pdf", "hr/b.pdf"]],
	[{ include: ["hr/**"] }, ["hr/b.pdf", "hr/c.txt", "hr/old/d.txt"]],
	[{ include: ["hr"] }, ["hr/b.pdf", "hr/c.txt", "hr/old/d.txt"]],
	[{ include: ["hr/*.{pdf,txt}"] }, ["hr/b.pdf", "hr/c.txt"]],
	[{ exclude: ["old/"] }, ["a.pdf", "hr/b.pdf", "hr/c.txt"]],
	[{ include: ["./*.txt"], exclude: ["c.*"] }, ["hr/old/d.txt"]],
	[{ exclude: ["!(a).pdf"] }, ["a.pdf", "hr/b.pdf", "hr/c.txt", "hr/old/d.txt"]],
])("takes the files that %o means, in every folder", async (globs, expected) => {
	const root = await tree("a.pdf", "hr/b.pdf", "hr/c.txt", "hr/old/d.txt");
	expect(paths(await walked(root, globs))).toEqual(expected);
	const filters = await createFilters(globs);
	// A file that is gone is judged by its path alone, as one that is there.
	expect(["a.pdf", "hr/b.pdf", "hr/c.txt", "hr/old/d.txt"].filter(filters.takes)).toEqual(expected);
});

it.each(["", "./", "/etc/*", "../*.pdf"])("refuses the glob '%s', which would leave everything out", async (glob) => {
	await expect(createFilters({ include: [glob] })).rejects.toThrow("--include");
});

it("counts links, and reads none of them: a link out of the folder would upload foreign files", async () => {
	const outside = await tree("secret.txt");
	const root = await tree("a.txt");
	await symlink(join(outside, "secret.txt"), join(root, "b.txt"));
	await symlink(outside, join(root, "c"));
	const found = await walked(root);
	expect([paths(found), found.links]).toEqual([["a.txt"], 2]);
});

it("follows each target once, and gets out of a circle", async () => {
	const outside = await tree("x.txt", "sub/y.txt");
	const root = await tree("a.txt", "hr/b.txt");
	await symlink(outside, join(root, "1"));
	await symlink(outside, join(root, "2"));
	await symlink(root, join(outside, "back"));
	await symlink("../hr", join(root, "hr", "self"));
	await symlink("a.txt", join(root, "0.txt"));
	await symlink(join(outside, "x.txt"), join(root, "z.txt"));
	await symlink("nowhere", join(root, "broken"));
	const found = await walked(root, { follow: true });
	expect([paths(found), found.links]).toEqual([["1/sub/y.txt", "1/x.txt", "a.txt", "hr/b.txt"], 5]);
	expect(found.problems).toEqual([{ path: join(root, "broken"), text: "no such file or directory" }]);
});

it("reports a folder that can't be read with the reason: its files would be missing silently", async ({ skip }) => {
	if (process.getuid?.() === 0) skip("root reads everything");
	const root = await tree("a.txt", "hr/b.txt");
	await chmod(join(root, "hr"), 0);
	const found = await walked(root);
	await chmod(join(root, "hr"), 0o700);
	expect([paths(found), found.problems]).toEqual([["a.txt"], [{ path: join(root, "hr"), text: "permission denied" }]]);
});

it("reports what is not there, and a folder that vanishes while it is walked", async () => {
	const root = await tree("a.txt", "hr/b.txt", "it/c.txt");
	const filters = {
		...(await createFilters({})),
		// The walk asks just before it opens a folder.
		enters: (relative: string) => {
			if (relative === "hr") rmSync(join(root, "hr"), { recursive: true });
			return true;
		},
	};
	const found = await walkPaths([join(root, "none"), root], { ...(await optionsOf()), filters });
	const text = "no such file or directory";
	expect([paths(found), found.problems]).toEqual([
		["a.txt", "it/c.txt"],
		[
			{ path: join(root, "none"), text },
			{ path: join(root, "hr"), text },
		],
	]);
});

it("gives a file its sidecar, whatever the filters say of that, and reports one whose file is gone", async () => {
	const root = await tree("hr/a.pdf", "hr/a.pdf.meta.json", "b.pdf.meta.json", "c.txt", "c.txt.meta.json");
	const found = await walked(root, { include: ["*.pdf"] });
	expect(found.files).toMatchObject([{ relative: "hr/a.pdf", sidecar: join(root, "hr/a.pdf.meta.json") }]);
	expect(found.problems).toEqual([
		{ path: join(root, "b.pdf.meta.json"), text: "is a sidecar whose file is not there" },
	]);
	expect(paths(await walked(root, { sidecars: false }))).toHaveLength(5);
});

it("takes each file once where two arguments hold it", async () => {
	const root = await tree("hr/a.pdf", "b.pdf");
	const found = await walkPaths([root, join(root, "hr"), join(root, "b.pdf")], await optionsOf());
	expect(paths(found)).toEqual(["b.pdf", "hr/a.pdf"]);
});

it("takes the files of a list by their paths, with the sidecars that lie beside them", async () => {
	const root = await tree("hr/a.pdf", "hr/a.pdf.meta.json", "it/b.pdf", "it/c.pdf", "d.pdf");
	const listed = ["it", "./hr/a.pdf", join(root, "d.pdf"), "hr/a.pdf", "../x.pdf", "none.pdf"];
	const found = await walkListed(root, listed, await optionsOf());
	expect(paths(found)).toEqual(["it/b.pdf", "it/c.pdf", "hr/a.pdf", "d.pdf"]);
	expect(found.files[2]?.sidecar).toBe(join(root, "hr/a.pdf.meta.json"));
	expect(found.problems).toEqual([
		{ path: join(root, "../x.pdf"), text: `lies outside ${root}` },
		{ path: join(root, "none.pdf"), text: "no such file or directory" },
	]);
});

it("takes no file of a list that a link leads out of the folder, without --follow", async () => {
	const outside = await tree("secret.txt");
	const root = await tree("a.txt");
	await symlink(outside, join(root, "c"));
	const found = await walkListed(root, ["c/secret.txt", "c", "a.txt"], await optionsOf());
	expect([paths(found), found.links, found.problems.length]).toEqual([["a.txt"], 1, 1]);
	expect(paths(await walkListed(root, ["c/secret.txt"], await optionsOf({ follow: true })))).toEqual(["c/secret.txt"]);
});

it("hashes a file's content", async () => {
	const root = await tree("a.txt");
	await writeFile(join(root, "a.txt"), "abc");
	expect(await sha256Of(join(root, "a.txt"))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
