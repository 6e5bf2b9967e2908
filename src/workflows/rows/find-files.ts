import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { CliError, reason, usageError } from "../../errors.ts";
import type { FileFacts } from "../../files/facts.ts";
import { readFilesFrom } from "../../files/files-from.ts";
import { createFilters } from "../../files/filters.ts";
import { type NameForm, collisions, exactKey, nameFault, storedName } from "../../files/stored-names.ts";
import { type FileProblem, type Tree, walkListed, walkPaths } from "../../files/walk.ts";
import { SIDECAR_SUFFIX } from "../../manifest/json/sidecar.ts";
import { inOrder } from "../../run/ordered.ts";
import { foldedName } from "../../text/names.ts";
import { show } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";
import { nameFoldingCheck } from "../check/ask-service.ts";
import { problemReporter } from "../check/check-manifest.ts";
import { endBefore, NO_ROWS } from "../report.ts";
import type { Run } from "../open-run.ts";
import type { FileFlags } from "../../flags/input-flags.ts";

/** A file to upload, and the name that it is stored under. */
export type FoundFile = { readonly facts: FileFacts; readonly name: string };

/** Whoever walks folders. */
type Walking = Pick<Run<FileFlags>, "flags" | "app">;

/** Files at once that are asked whether they can be read. */
const AT_ONCE = 64;

/**
 * The files that paths name, or that a list names, and the names that they are stored under.
 *
 * @throws CliError exit 2 where one can't be read, or two would be stored under one name; all of them are printed
 */
export async function findFiles(
	run: Run<FileFlags & { readonly json?: boolean | undefined }>,
	paths: readonly string[],
): Promise<readonly FoundFile[]> {
	const { files, problems } = await walked(run, paths);
	const found = named(run, files);
	await checkNames(run, found, [...problems, ...(await unreadable(found))]);
	return found;
}

/** Files with the names that they are stored under. */
export function named({ flags }: Walking, files: readonly FileFacts[]): FoundFile[] {
	return files.map((facts) => ({ facts, name: storedName(facts.relative, flags.names ?? "path") }));
}

/**
 * Checks the names that files would be stored under.
 *
 * @param faults other faults of the files
 * @throws CliError exit 2 where there is any fault; all of them are printed. EarlyEnd where the service could not say how it
 * compares names
 */
export async function checkNames(
	run: Run<FileFlags & { readonly json?: boolean | undefined }>,
	found: readonly FoundFile[],
	faults: FileProblem[] = [],
): Promise<void> {
	const { flags, session, app } = run;
	const named = found.map(({ facts, name }) => [facts.path, name] as const);
	for (const [path, name] of named) {
		const fault = nameFault(name);
		if (fault !== undefined) faults.push({ path, text: fault });
	}
	const same = collisions(named, exactKey);
	for (const { first, second, name } of same) {
		faults.push({ path: second, text: `${first} and ${second} would both be stored as ${name}` });
	}
	const folding = nameFoldingCheck(session, false, app);
	const alike = same.length > 0 ? [] : collisions(named, foldedName);
	if (alike.length > 0 && (await folding.foldsNames(faults.length))) {
		const why =
			"would be stored under one name by this service, which ignores letter case, accents and trailing blanks";
		for (const { first, second } of alike) faults.push({ path: second, text: `${first} and ${second} ${why}` });
	}
	const hasTwins = same.length + alike.length > 0;
	if (faults.length > 0) await refuse(run, faults, hasTwins ? twinsHint(flags.names) : undefined);
	const stop = folding.stop();
	if (stop !== undefined) endBefore(run, { ...NO_ROWS, rows: found.length }, stop);
}

/**
 * The files that the flags and paths name. What is left out is noted.
 *
 * @throws CliError exit 2 where a list can't be read, or a glob matches nothing
 */
export async function walked(run: Walking, paths: readonly string[]): Promise<Tree> {
	const tree = await treeOf(run, paths);
	noteLeftOut(run, tree);
	return tree;
}

async function treeOf({ flags, app }: Walking, paths: readonly string[]): Promise<Tree> {
	const { include, exclude, follow = false, filesFrom, sidecars } = flags;
	const options = {
		filters: await createFilters({ include, exclude }),
		follow,
		sidecarSuffix: sidecars === false ? undefined : SIDECAR_SUFFIX,
		signal: app.signal,
		onProgress: (files: number) => app.monitor.count({ done: files, unit: "files" }),
	};
	app.monitor.enter("checking", "the files");
	if (filesFrom === undefined) return walkPaths(paths, options);
	const [folder = ".", ...others] = paths;
	if (others.length > 0) {
		throw usageError("--files-from takes one folder, from which the paths of the list count; nothing was sent");
	}
	const listed = await readFilesFrom(filesFrom, flags.null === true, app.stdin);
	return walkListed(folder, listed, options).catch((error: unknown) => {
		throw error instanceof CliError ? error : usageError(`${folder}: ${reason(error)}; nothing was sent`);
	});
}

function noteLeftOut({ flags, app }: Walking, { links, others }: Pick<Tree, "links" | "others">): void {
	const count = (number: number, one: string): string =>
		`${numberText(number)} ${one}${number === 1 ? " is" : "s are"}`;
	if (links > 0) {
		const why = flags.follow === true ? "its target is there already" : "--follow follows links, each target once";
		app.io.note(`${count(links, "symbolic link")} left out: ${why}.`);
	}
	if (others > 0) app.io.note(`${count(others, "pipe, socket or device")} left out.`);
}

async function unreadable(files: readonly FoundFile[]): Promise<FileProblem[]> {
	const faults: FileProblem[] = [];
	const faultOf = ({ facts: { path } }: FoundFile): Promise<FileProblem | undefined> =>
		access(path, constants.R_OK).then(
			() => undefined,
			(error: unknown) => ({ path, text: reason(error) }),
		);
	for await (const fault of inOrder(files, faultOf, AT_ONCE)) if (fault !== undefined) faults.push(fault);
	return faults;
}

function twinsHint(form: NameForm = "path"): string {
	const manifest = "Give them different names in a manifest with the columns file and name";
	if (form === "base") return `${manifest}, or keep their folders with --names path.`;
	return form === "flat" ? `${manifest}, or use --names path.` : `${manifest}, or name the folder above them.`;
}

async function refuse(
	{ flags, app }: Run<{ readonly json?: boolean | undefined }>,
	faults: readonly FileProblem[],
	hint: string | undefined,
): Promise<never> {
	const problems = problemReporter(flags.json === true, app);
	for (const { path, text } of faults) {
		await problems.report({ file: show(path), line: 1, column: 1, field: "file", code: "BAD_FILE", text });
	}
	problems.end();
	const count = faults.length === 1 ? "1 file or folder" : `${numberText(faults.length)} files or folders`;
	const next = hint ?? "Correct what is named above, or leave it out with --exclude.";
	throw usageError(`${count} can't be uploaded; nothing was sent`, next);
}
