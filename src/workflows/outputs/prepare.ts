import { constants } from "node:fs";
import { access, lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { App } from "../../app.ts";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import type { OutputFlags } from "../../run-end.ts";
import { currentUserId } from "../../user-id.ts";
import { OUTPUTS } from "./outputs.ts";

/** Flags of other files that the same command writes. */
type OtherFiles = { readonly failed?: string; readonly out?: string };

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
	const taken = new Map<string, string>();
	const others: readonly (readonly [string, string | undefined])[] = [
		...args.map((arg) => [`the argument ${arg}`, arg] as const),
		["--failed", flags.failed],
		["--out", flags.out],
	];
	for (const [name, path] of others) if (path !== undefined && path !== "-") taken.set(await fullPath(path), name);
	const refused = new Set<string>();
	let first: CliError | undefined;
	for (const { flag, path: pathOf, isAutomatic } of OUTPUTS) {
		const path = pathOf(flags);
		if (path === undefined) continue;
		const full = await fullPath(path);
		const other = taken.get(full);
		const why = other === undefined ? await whyNot(path) : `is also the file of ${other}`;
		taken.set(full, flag);
		if (why === undefined) continue;
		refused.add(path);
		if (isAutomatic === true && isAuto) continue;
		first ??= new CliError(`${flag} ${path}: ${why}; nothing was sent`, {
			exit: Exit.usage,
			hint: "Name a file of your own in a folder that can be written.",
		});
	}
	runEnd.begin(command, args, flags, refused);
	if (first !== undefined) throw first;
}

/** The path of a file that need not exist, without links in its folder. */
async function fullPath(path: string): Promise<string> {
	const folder = dirname(resolve(path));
	return join(await realpath(folder).catch(() => folder), basename(path));
}

/** The reason why a file can't or must not be replaced; undefined if it may. */
async function whyNot(path: string): Promise<string | undefined> {
	try {
		await access(dirname(resolve(path)), constants.W_OK | constants.X_OK);
		const status = await lstat(path);
		if (status.isDirectory()) return "is a folder";
		if (status.isSymbolicLink()) return "is a link to another file; name that file itself";
		// A rename would put a file where a device was.
		if (!status.isFile()) return "is no regular file";
		const own = currentUserId();
		return own !== -1 && status.uid !== own ? "belongs to another user" : undefined;
	} catch (error) {
		return errorCode(error) === "ENOENT" && (await isFolder(dirname(resolve(path)))) ? undefined : reason(error);
	}
}

async function isFolder(path: string): Promise<boolean> {
	return lstat(path).then(
		(status) => status.isDirectory() || status.isSymbolicLink(),
		() => false,
	);
}
