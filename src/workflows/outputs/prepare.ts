import { constants } from "node:fs";
import { access, lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { App } from "../../app.ts";
import { type CliError, errorCode, reason, usageError } from "../../errors.ts";
import type { OutputFlags } from "../../run-end.ts";
import { isOfAnotherUser } from "../../user-id.ts";
import { OUTPUTS } from "./outputs.ts";

/** Flags of other files that the same command reads. */
type OtherFiles = {
	/** of `values` a table; of other commands the names of columns */
	readonly map?: unknown;
	readonly schema?: string | undefined;
	readonly apiKeyFile?: string | undefined;
	readonly caFile?: string | undefined;
};

/** A file that a command writes. */
type Written = Pick<(typeof OUTPUTS)[number], "flag" | "path" | "isAutomatic"> & {
	/** why it can't or must not be written; by default that of a file that is replaced as a whole */
	readonly whyNot?: (path: string) => Promise<string | undefined>;
};

const checkedLater: Written["whyNot"] = () => Promise.resolve(undefined);

const WRITTEN: readonly Written[] = [
	// Lines would be appended to a manifest. It is opened next.
	{ flag: "--log-file", path: ({ logFile }) => logFile, whyNot: checkedLater },
	// It may be a folder, and its command checks it.
	{ flag: "--out", path: ({ out }) => out, whyNot: checkedLater },
	{ flag: "--failed", path: ({ failed }) => failed, whyNot: whyNotOpened },
	...OUTPUTS,
];

const HINT = "Name a file of your own in a folder that can be written.";

/**
 * Checks that no output would replace the manifest of a recorded run, which the command line does not name.
 *
 * @throws CliError exit 2
 */
export async function checkManifestOfRun({ runEnd }: Pick<App, "runEnd">, manifest: string): Promise<void> {
	const identity = await identityOf(manifest);
	for (const { flag, path: pathOf } of WRITTEN) {
		const path = pathOf(runEnd.flags);
		if (path === undefined || (await identityOf(path)) !== identity) continue;
		runEnd.refused.add(path);
		throw usageError(`${flag} ${path}: is also the manifest of the run; nothing was sent`, HINT);
	}
}

/**
 * Takes the outputs that the command line asks for, before anything is sent. An hour's run must not end with a file that was
 * never writable. The outputs that can be written are, also where another one is refused.
 *
 * @param args arguments of the command: a manifest among them must not be overwritten
 * @throws CliError exit 2
 */
export async function prepareOutputs(
	{ runEnd, ci }: App,
	command: string,
	args: readonly string[],
	typed: OutputFlags & OtherFiles,
): Promise<void> {
	const isAuto = typed.annotations === "auto";
	const flags = isAuto ? { ...typed, annotations: ci.system ?? ("none" as const) } : typed;
	const taken = await filesOf(args, flags);
	let first: CliError | undefined;
	for (const { flag, path: pathOf, isAutomatic, whyNot = whyNotReplaced } of WRITTEN) {
		const path = pathOf(flags);
		if (path === undefined) continue;
		const identity = await identityOf(path);
		const other = taken.get(identity);
		const why = other === undefined ? await whyNot(path) : `is also the file of ${other}`;
		taken.set(identity, flag);
		if (why === undefined) continue;
		runEnd.refused.add(path);
		if (isAutomatic === true && isAuto) continue;
		first ??= usageError(`${flag} ${path}: ${why}; nothing was sent`, HINT);
	}
	runEnd.begin(command, args, flags);
	if (first !== undefined) throw first;
}

/** The names of the files that a command line has beside those that it writes, by what `identityOf` gives for them. */
async function filesOf(args: readonly string[], flags: OtherFiles): Promise<Map<string, string>> {
	const files: readonly (readonly [string, unknown])[] = [
		...args.map((arg) => [`the argument ${arg}`, arg] as const),
		["--map", flags.map],
		["--schema", flags.schema],
		["--api-key-file", flags.apiKeyFile],
		["--ca-file", flags.caFile],
	];
	const named = new Map<string, string>();
	for (const [name, path] of files) {
		if (typeof path === "string" && path !== "-") named.set(await identityOf(path), name);
	}
	return named;
}

/**
 * A text that is the same for all names of a file, links and other letter cases included. Where there is no file yet, it is
 * the path without links in its folder.
 */
async function identityOf(path: string): Promise<string> {
	try {
		// As a number, a long inode number would be rounded.
		const { dev, ino } = await stat(path, { bigint: true });
		return `${dev}:${ino}`;
	} catch {
		const folder = dirname(resolve(path));
		return join(await realpath(folder).catch(() => folder), basename(path));
	}
}

/** Folders in which only the system makes links: `/dev/stdout`, and what a shell makes of `>(command)`. */
const SYSTEM = /^\/(?:dev|proc)\//;

export function isOfSystem(path: string): boolean {
	return SYSTEM.test(resolve(path));
}

/** The reason why a file can't or must not be opened to write it. It may be a pipe or a device of the system. */
export async function whyNotOpened(path: string): Promise<string | undefined> {
	return isOfSystem(path) ? undefined : whyNotReplaced(path, true);
}

/** The reason why a file can't or must not be replaced; undefined if it may. */
async function whyNotReplaced(path: string, mayBePipe = false): Promise<string | undefined> {
	try {
		await access(dirname(resolve(path)), constants.W_OK | constants.X_OK);
		const status = await lstat(path).catch((error: unknown) => {
			if (errorCode(error) !== "ENOENT") throw error;
		});
		if (status === undefined) return undefined;
		if (status.isDirectory()) return "is a folder";
		// In a folder of other users, a link may lead to a file of this user that they want overwritten.
		if (status.isSymbolicLink()) return "is a link to another file; name that file itself";
		// A rename would put a file where a device was.
		if (!status.isFile() && !mayBePipe) return "is no regular file";
		return isOfAnotherUser(status) ? "belongs to another user" : undefined;
	} catch (error) {
		return reason(error);
	}
}
