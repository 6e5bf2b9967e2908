// Before the package is packed. npm keeps the modes of files, and those of a checkout depend on the umask of its user: with
// the usual 022 a file is readable by all, with 077 by its owner alone, and the same commit would be packed differently.
import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { files, bin } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const programs = Object.values(bin).map((path) => join(root, path));

for (const path of ["package.json", ...files].map((name) => join(root, name))) {
	const below = (await stat(path)).isDirectory() ? await readdir(path, { recursive: true, withFileTypes: true }) : [];
	const inside = below.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
	for (const file of below.length > 0 ? inside : [path]) await chmod(file, programs.includes(file) ? 0o755 : 0o644);
}
