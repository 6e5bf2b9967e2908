// What is in the executable, as CycloneDX 1.6: for scanners that look for packages with known faults.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageFolders } from "./third-party.mjs";

/**
 * @param root folder of the checkout, with a slash at its end
 * @param inputs paths below `root` of all files that went into the build, as esbuild's metafile has them
 * @param program `{ name, version, license }` of package.json
 * @param node `process.versions` of the Node that is the executable
 * @returns the document, the same for the same build: it has no time and no serial number
 */
export async function sbomOf(root, inputs, program, node) {
	const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
	const packages = await Promise.all(
		packageFolders(inputs).map(async (folder) => {
			const { name, version, license } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
			return { ...npmComponent("library", { name, version, license }), ...hashesOf(lock.packages[folder]?.integrity) };
		}),
	);
	const subject = npmComponent("application", program);
	const components = [...packages, nodeComponent(node)];
	return {
		$schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
		bomFormat: "CycloneDX",
		specVersion: "1.6",
		version: 1,
		metadata: { component: subject },
		components,
		dependencies: [
			{ ref: subject["bom-ref"], dependsOn: components.map((component) => component["bom-ref"]) },
			...components.map((component) => ({ ref: component["bom-ref"] })),
		],
	};
}

function npmComponent(type, { name, version, license }) {
	const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
	return { type, "bom-ref": purl, name, version, purl, licenses: [licenceOf(license)] };
}

/** An identifier of SPDX, or an expression of several. */
function licenceOf(license) {
	return /[ (]/.test(license) ? { expression: license } : { license: { id: license } };
}

/** The lock file has the hash of the package's archive, in base64. */
function hashesOf(integrity) {
	const [, digest] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
	if (digest === undefined) return {};
	return { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] };
}

/** Members of `process.versions` that are no libraries: Node itself, and numbers of its interfaces. */
const NOT_LIBRARIES = ["node", "modules", "napi"];

/** Node, and within it the libraries that it was built with. */
function nodeComponent(versions) {
	const { node } = versions;
	const libraries = Object.entries(versions).filter(([name]) => !NOT_LIBRARIES.includes(name));
	const purl = `pkg:generic/node@${node}`;
	return {
		type: "platform",
		"bom-ref": purl,
		name: "node",
		version: node,
		purl,
		licenses: [{ license: { id: "MIT" } }],
		components: libraries.map(([name, version]) => ({
			type: "library",
			"bom-ref": `${purl}#${name}`,
			name,
			version,
		})),
	};
}
