import type { App, Session, Settings } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import type { JsonValue } from "../../json/values.ts";
import { PURPOSES, type RunPurpose } from "../../manifest/purposes.ts";
import type { CheckedManifest, ManifestOptions } from "../../manifest/types.ts";
import type { Mode } from "../../plan/change.ts";
import { resolve } from "node:path";
import type { BodyChoice } from "../../body-forms.ts";
import { unsentTotals } from "../../run/journal/memory-journal.ts";
import type { UpdatePlan } from "../../run/operations/prepare-update.ts";
import type { Stop } from "../../run/types.ts";
import { report } from "./run-report.ts";
import { ownFilesRoot, payloadOptions } from "../../flags/payload-options.ts";
import { checkAndTell, checkInput, manifestOptions, refusal } from "../check/check-rows.ts";
import { checkFailedPath } from "./failed-file.ts";
import { alikeNames } from "../check/alike-names.ts";
import { presentExcuses } from "../check/already-present.ts";
import { type RowFlags, type ManifestFlags, type RunFlags, withSession } from "../../flags/flags.ts";
import type { Kept, RowSource, RunItem } from "../rows/row-source.ts";
import { type RowRun, runSource } from "./run-rows.ts";
import { printVersionLine } from "../version-line.ts";

/** What a command adds to the run of checked rows. */
export type CheckedRun<Item extends RunItem> = Omit<RowRun<Item>, "source"> & {
	readonly purpose: RunPurpose;
	/** how rows become what is sent; where it is given, a value that its document has already is no problem */
	readonly excuse?: Pick<UpdatePlan, "metadataToSend"> | undefined;
	/** why nothing may be sent although the manifest is good, by requests that change nothing; undefined where it may */
	readonly refuse?: (source: RowSource, session: Session) => Promise<Stop | undefined>;
	/** what is done with the checked rows instead of a run */
	readonly instead?: ((source: RowSource, session: Session, settings: Settings) => Promise<ExitCode>) | undefined;
};

export type ManifestRun<Item extends RunItem> = CheckedRun<Item> & { readonly manifest: string };

/** A manifest that a command has made and removes after its run; a recorded run keeps a copy. */
export type MadeManifest = {
	readonly path: string;
	/** what messages call it */
	readonly name: string;
};

/** Flags about what is read from a manifest, and which problems it may have. */
export type ManifestReadFlags = RowFlags &
	Partial<ManifestFlags> & {
		readonly set?: readonly string[];
		readonly skipInvalid?: boolean;
		readonly allowEmpty?: boolean;
		readonly filesRoot?: string;
		readonly mode?: Mode;
		readonly deleteToken?: string;
	};

export type ManifestRunFlags = ManifestReadFlags & RunFlags & { readonly onlyChanged?: boolean };

/** What is done with a manifest: it is checked, then `refuse` may refuse it, then `use` gets its rows. */
export type ManifestUse = Pick<CheckedRun<RunItem>, "purpose" | "excuse" | "refuse"> & {
	/** @param schema what `--schema` says: its file may have changed when the run is resumed */
	readonly use: (
		source: RowSource,
		session: Session,
		settings: Settings,
		schema: JsonValue | undefined,
	) => Promise<ExitCode>;
};

/**
 * Checks a manifest, and hands its rows on where it is good.
 *
 * Settings are checked first, then the whole manifest. ARCHITECTURE.md says when an exit of 2 or 3 follows a request.
 */
export async function withManifest(
	{ manifest, ...use }: ManifestUse & { readonly manifest: string },
	flags: ManifestReadFlags & { readonly body?: BodyChoice },
	app: App,
): Promise<ExitCode> {
	checkInput(manifest, flags);
	if (flags.json === true) await printVersionLine(app);
	return withSession(flags, app, async (session, settings) => {
		if (flags.failed !== undefined) await checkFailedPath(flags.failed, manifest);
		const filesRoot = flags.filesRoot ?? ownFilesRoot(manifest, settings);
		const root = filesRoot === undefined ? {} : { filesRoot };
		const options = await manifestOptions(use.purpose, { ...flags, ...root }, settings);
		return withChecked(use, manifest, options, flags, session, settings, app);
	});
}

/** Checks a manifest in an open session, and hands its rows on where it is good. */
async function withChecked(
	{ purpose, excuse, refuse, use }: ManifestUse,
	manifest: string | MadeManifest,
	options: ManifestOptions,
	flags: ManifestReadFlags,
	session: Session,
	settings: Settings,
	app: App,
): Promise<ExitCode> {
	const { path, name } = typeof manifest === "string" ? { path: manifest, name: undefined } : manifest;
	const excuses = excuse === undefined ? undefined : presentExcuses(excuse, session, settings, app);
	const names = PURPOSES[purpose].subject.hasFile ? alikeNames(session, flags.skipInvalid === true, app) : undefined;
	const extras = { name, excuses, alike: names?.alike };
	const checked = await checkAndTell(path, options, flags.json === true, settings, app, extras);
	try {
		const source = { ...checked, kept: keptOf(path, checked, name !== undefined) };
		const stop =
			refusal(checked, flags, purpose) ?? excuses?.stop() ?? names?.stop() ?? (await refuse?.(source, session));
		if (stop !== undefined) {
			return await report({ totals: unsentTotals(checked), seconds: 0, stop }, flags, app);
		}
		return await use(source, session, settings, options.schema);
	} finally {
		await checked.close();
	}
}

function keptOf(path: string, { content: { sha256, bytes, spooled } }: CheckedManifest, isMade: boolean): Kept {
	const copy = spooled ?? (isMade ? path : undefined);
	return { sha256, bytes, source: copy === undefined ? { path: resolve(path) } : { copy } };
}

/** Checks a manifest, then runs its rows. */
export async function runManifest<Item extends RunItem>(
	{ manifest, ...run }: ManifestRun<Item>,
	flags: ManifestRunFlags,
	app: App,
): Promise<ExitCode> {
	return withManifest({ ...useOf(run, manifest, flags, app), manifest }, flags, app);
}

/** Checks a manifest in an open session, then runs its rows. */
export async function runChecked<Item extends RunItem>(
	run: CheckedRun<Item>,
	manifest: MadeManifest,
	options: ManifestOptions,
	flags: ManifestRunFlags,
	session: Session,
	settings: Settings,
	app: App,
): Promise<ExitCode> {
	return withChecked(useOf(run, undefined, flags, app), manifest, options, flags, session, settings, app);
}

/** @param path of the manifest; undefined where a command has made it */
function useOf<Item extends RunItem>(
	run: CheckedRun<Item>,
	path: string | undefined,
	flags: ManifestRunFlags,
	app: App,
): ManifestUse {
	const { purpose, excuse, refuse, instead } = run;
	const use: ManifestUse["use"] = async (source, session, settings, schema) => {
		if (instead !== undefined) return instead(source, session, settings);
		const context = {
			command: PURPOSES[purpose].command,
			settings,
			options: payloadOptions(flags, path, settings, schema),
		};
		return runSource({ ...run, source }, context, flags, session, app);
	};
	return { purpose, excuse, ...(refuse === undefined ? {} : { refuse }), use };
}
