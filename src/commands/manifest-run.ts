import type { App, Session, Settings } from "../app.ts";
import type { ExitCode } from "../errors.ts";
import type { JsonValue } from "../json.ts";
import type { CheckedManifest, Purpose } from "../manifest/types.ts";
import type { Mode } from "../plan/change.ts";
import { resolve } from "node:path";
import type { BodyForm } from "../rest/types.ts";
import { MemoryJournal } from "../run/journal.ts";
import type { Stop } from "../run/types.ts";
import { report } from "./run-report.ts";
import { payloadOptions } from "./payload-options.ts";
import { checkAndTell, checkInput, manifestOptions, refusal } from "./check-rows.ts";
import { checkFailedPath } from "./failed-file.ts";
import { type LookFlags, type ManifestFlags, type RunFlags, withSession } from "./flags.ts";
import { type Kept, printVersionLine, type RowRun, type RunItem, runSource, type RowSource } from "./run-rows.ts";

/** Names are looked up by a command that runs no rows. */
export type RunPurpose = Exclude<Purpose, "resolve">;

/** What a command adds to the run of a manifest. */
export type ManifestRun<Item extends RunItem> = Omit<RowRun<Item>, "source"> & {
	readonly purpose: RunPurpose;
	readonly manifest: string;
	/** why nothing may be sent although the manifest is good, from requests that change nothing; undefined when it may */
	readonly refuse?: (source: RowSource, session: Session) => Promise<Stop | undefined>;
	/** what is done with the checked rows instead of a run */
	readonly instead?: ((source: RowSource, session: Session, settings: Settings) => Promise<ExitCode>) | undefined;
	/** last word before the first request: notes, and the question that may decline (a usage error) */
	readonly before?: (source: RowSource) => Promise<void>;
};

/** How a run of each purpose is called. */
export const COMMANDS = { tag: "docs tag", upload: "docs upload", rm: "docs rm" } as const satisfies Record<
	RunPurpose,
	string
>;

function keptOf(manifest: string, { content: { sha256, bytes, spooled } }: CheckedManifest): Kept {
	return { sha256, bytes, source: spooled === undefined ? { path: resolve(manifest) } : { copy: spooled } };
}

/** Flags that say what is read from a manifest, and whether it is good enough. */
export type ManifestReadFlags = LookFlags &
	Partial<ManifestFlags> & {
		readonly set?: readonly string[];
		readonly skipInvalid?: boolean;
		readonly allowEmpty?: boolean;
		readonly filesRoot?: string;
		readonly mode?: Mode;
		readonly deleteToken?: string;
	};

export type ManifestRunFlags = ManifestReadFlags & RunFlags & { readonly onlyChanged?: boolean };

/** What is done with a manifest: checked by itself, then asked about, then used. */
export type ManifestUse = Pick<ManifestRun<RunItem>, "purpose" | "manifest" | "refuse"> & {
	/** @param schema what `--schema` says, as its file may be another by the time that a run is gone on with */
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
 * Settings come first, then the whole manifest: exits 2 and 3 mean that no request was made at all.
 */
export async function withManifest(
	{ purpose, manifest, refuse, use }: ManifestUse,
	flags: ManifestReadFlags & { readonly body?: BodyForm | "auto" },
	app: App,
): Promise<ExitCode> {
	checkInput(manifest, flags);
	if (flags.json === true) await printVersionLine(app);
	return withSession(flags, app, async (session, settings) => {
		if (flags.failed !== undefined) await checkFailedPath(flags.failed, manifest);
		const options = await manifestOptions(purpose, flags, settings);
		const checked = await checkAndTell(manifest, options, flags.json === true, settings, app);
		try {
			const source = { ...checked, kept: keptOf(manifest, checked) };
			const stop = refusal(checked, flags, purpose) ?? (await refuse?.(source, session));
			if (stop !== undefined) {
				return await report({ totals: new MemoryJournal(checked).totals(), seconds: 0, stop }, flags, app);
			}
			return await use(source, session, settings, options.schema);
		} finally {
			await checked.close();
		}
	});
}

/** Checks a manifest, then runs its rows. */
export async function runManifest<Item extends RunItem>(
	run: ManifestRun<Item>,
	flags: ManifestRunFlags,
	app: App,
): Promise<ExitCode> {
	const { purpose, manifest, refuse, instead, before } = run;
	const use: ManifestUse["use"] = async (source, session, settings, schema) => {
		if (instead !== undefined) return instead(source, session, settings);
		await before?.(source);
		const context = {
			command: COMMANDS[purpose],
			settings,
			options: payloadOptions(flags, manifest, settings, schema),
		};
		return runSource({ ...run, source }, context, flags, session, app);
	};
	return withManifest({ purpose, manifest, ...(refuse === undefined ? {} : { refuse }), use }, flags, app);
}
