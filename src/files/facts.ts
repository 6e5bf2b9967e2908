/** A file on this machine, as it was found. Paths have `/` between their parts. */
export type FileFacts = {
	/** the absolute path by which it is opened */
	readonly path: string;
	/** its path from the folder that was named: `hr/a.pdf`. The base name of a file that was named itself */
	readonly relative: string;
	/** the folder of `relative`: `hr`; empty at the top */
	readonly folder: string;
	/** the base name: `a.pdf` */
	readonly name: string;
	/** the ending without its dot, as it is written: `pdf`; empty where there is none */
	readonly ext: string;
	/** in bytes */
	readonly size: number;
	/** when its content was last written, in milliseconds since 1970, with fractions */
	readonly mtime: number;
	/** device and inode, to be compared with those of an earlier time alone: above 2^53 they come rounded */
	readonly dev: number;
	readonly ino: number;
	/** the absolute path of its sidecar, where sidecars count and it has one */
	readonly sidecar: string | undefined;
};

/** The members of a file's status that are facts. */
type Status = {
	readonly size: number;
	readonly mtimeMs: number;
	readonly dev: number;
	readonly ino: number;
};

/** The facts of a file by its paths and its status. */
export function factsOf(
	{ path, relative, sidecar }: Pick<FileFacts, "path" | "relative" | "sidecar">,
	{ size, mtimeMs, dev, ino }: Status,
): FileFacts {
	const slash = relative.lastIndexOf("/");
	const name = relative.slice(slash + 1);
	const dot = name.lastIndexOf(".");
	return {
		path,
		relative,
		folder: slash === -1 ? "" : relative.slice(0, slash),
		name,
		// The dot of `.profile` begins a hidden name, and no ending.
		ext: dot > 0 ? name.slice(dot + 1) : "",
		size,
		mtime: mtimeMs,
		dev,
		ino,
		sidecar,
	};
}
