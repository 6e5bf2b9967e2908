// Puts libraries that few commands need into files of their own. V8 reads the whole text of a file, and keeps a note of each
// function at its top, although it is never called. That is a part of the time of a short command.
import { join } from "node:path";
import { build } from "esbuild";

/**
 * What the program imports, by the names of the files: for a proxy with a tunnel, for a cap that machines share, for a
 * schema of a manifest, for a workbook, and for uploads to the sandbox. A module of ours may be one of them if it imports libraries alone: what others import too would be
 * there twice. The compiled code of these files is not kept between calls.
 */
const PARTS = {
	undici: "undici",
	ioredis: "ioredis",
	ajv: "./ajv.ts",
	yauzl: "yauzl",
	sax: "sax",
	busboy: "@fastify/busboy",
};

/** The file of each part that is no library, below the checkout. */
const FILES = { ajv: "./src/manifest/rows/ajv.ts" };

/** A plugin of esbuild, for the program: each part is loaded from a file next to it. */
export function lateParts() {
	const names = new Map(Object.entries(PARTS).map(([name, asked]) => [asked, name]));
	return {
		name: "late-parts",
		setup({ onResolve }) {
			onResolve({ filter: /^(?:undici|ioredis|yauzl|sax|@fastify\/busboy|\.\/ajv\.ts)$/ }, ({ path }) => ({
				path: `./${names.get(path)}.js`,
				external: true,
			}));
		},
	};
}

/**
 * Builds these files.
 *
 * @param options those of the program, without the plugin
 * @param folder of the program
 * @returns the paths of all files that went into them
 */
export async function buildLateParts(options, folder) {
	const built = Object.entries(PARTS).map(([name, asked]) =>
		build({ ...options, entryPoints: [FILES[name] ?? asked], outfile: join(folder, `${name}.js`) }),
	);
	return (await Promise.all(built)).flatMap(({ metafile }) => Object.keys(metafile.inputs));
}
